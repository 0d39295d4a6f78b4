import CWebImageGTK4
import FoundationEssentials
import WebImage

extension ViewState {
    /// Shows the image of a URL.
    ///
    /// - Parameters:
    ///   - slot: the slot; nil for the slot that the context names.
    ///   - setter: the program's setter; nil for the slot's own.
    func load(
        _ request: ViewLoad.Request,
        in slot: ImageSlot?,
        setter: (@MainActor (_ paintable: OpaquePointer?, _ result: WebImageResult?) -> Void)?
    ) -> WebImageLoadOperation? {
        // Its completion is not called: it may be the caller.
        guard !isLeaving else { return nil }
        let slot = slot ?? .of(request.context)
        if let setter {
            var request = request
            request.hasOwnSetter = true
            return begin(request, in: slot, setter: { setter($0?.pointer, $1) })
        }
        if slot == .highlighted {
            let part = makeHighlight()
            return begin(request, in: slot, setter: { [weak part] content, _ in part?.content = content })
        }
        guard view.isA(gtk_button_get_type()) || slot.place != .image else { return begin(request, in: slot) }
        return makeButton().load(request, in: slot)
    }

    /// Starts a load and cancels the current one of its slot.
    ///
    /// - Parameters:
    ///   - setter: shows the image; nil for the view's own paintable.
    ///   - transitionTarget: returns the paintable that runs a transition to some content, and has it show that content; nil for no
    ///     transitions.
    func begin(
        _ request: ViewLoad.Request,
        in slot: ImageSlot,
        setter: ViewLoad.Setter? = nil,
        transitionTarget: ViewLoad.TransitionTarget? = nil
    ) -> WebImageLoadOperation? {
        // Called by the completion of a load that this slot cancels for another one: the other one wins.
        guard slots[slot]?.isVacating != true else { return nil }
        // Completions may release the view.
        let kept = keepView()
        defer { kept.end() }
        latestSlot = slot
        if !request.options.contains(.avoidAutoCancelImage) { vacate(slot) }
        // The former content is kept until memory was queried: the cache's weak level may hold the image only because it is shown.
        let former = (existingPaintable?.content, slots[slot])
        let load = makeLoad(request, slot, setter)
        // The tiles are those of the former image.
        if load.showsInPaintable, !request.options.contains(.avoidAutoSetImage) { tiledImage?.close() }
        change(slot) {
            $0.loadState = ViewLoadState(
                url: load.request.url,
                progress: LoadProgress(receivedByteCount: 0, expectedByteCount: nil),
                phase: .loading
            )
            $0.lastNumber = load.number
            if load.showsInPaintable { $0.isInPaintable = true }
        }
        forgetOldSlots()
        load.transitionTarget = transitionTarget
        if !request.options.contains(.delayPlaceholder) { showPlaceholder(of: load) }
        guard let url = load.request.url else {
            load.fail(WebImageError(.invalidURL, "the URL is missing"))
            return nil
        }
        change(slot) {
            if let former = $0.load { $0.superseded.append(former) }
            $0.load = load
        }
        load.start(url, manager: request.context?.customManager ?? .shared)
        withExtendedLifetime(former) {}
        return load.operation
    }

    private func makeLoad(_ request: ViewLoad.Request, _ slot: ImageSlot, _ setter: ViewLoad.Setter?) -> ViewLoad {
        let context = effectiveContext(request.context, slot)
        var request = request
        if let source = request.source { request.url = url(of: source, context) }
        lastNumber += 1
        return ViewLoad(
            request,
            context: context,
            slot: slot,
            number: lastNumber,
            state: self,
            setter: setter ?? { [weak self] content, _ in self?.paintable.show(content) },
            showsInPaintable: setter == nil
        )
    }

    /// The context of a load of this view.
    private func effectiveContext(_ context: WebImageContext?, _ slot: ImageSlot) -> WebImageContext {
        var context = context ?? WebImageContext()
        context.setImageOperationKey = slot.operationKey
        if context.sizeReuse == nil { context.sizeReuse = context.viewSizeReuse }
        if context.thumbnailPixelSize == nil, usesAutomaticThumbnailSize {
            context.thumbnailPixelSize = preferredPixelSize ?? ViewGeometry.pixelSize(of: view)
            if context.thumbnailCovers == nil { context.thumbnailCovers = ContentFit.of(view).needsBothSides }
        }
        return context
    }

    // MARK: Load state

    /// Returns whether no newer load was started in the load's slot.
    func isLatest(_ load: ViewLoad) -> Bool { slots[load.slot]?.lastNumber == load.number }

    func note(_ phase: ViewLoadState.Phase, of load: ViewLoad) {
        guard isLatest(load), !load.request.isUpgrade else { return }
        var progress = load.latestReading ?? slots[load.slot]?.loadState?.progress
        if case .loaded = phase, progress?.receivedByteCount == 0, progress?.expectedByteCount == nil {
            // The image did not arrive in chunks: report it as complete.
            progress = LoadProgress(receivedByteCount: 1, expectedByteCount: 1)
        }
        change(load.slot) {
            if let progress { $0.loadState?.progress = progress }
            $0.loadState?.phase = phase
        }
    }

    /// Replaces the image in the slot's state, so that the former pixels are released.
    private func exchange(_ image: Image, of load: ViewLoad) {
        guard isLatest(load), case .loaded(let result) = slots[load.slot]?.loadState?.phase else { return }
        change(load.slot) { $0.loadState?.phase = .loaded(result.kept(as: image)) }
    }

    func note(_ reading: LoadProgress, of load: ViewLoad) {
        guard isLatest(load), !load.request.isUpgrade else { return }
        slots[load.slot]?.loadState?.progress = reading
        if showsIndicator { indicator?.updateProgress(reading.fraction) }
    }

    /// The state of a slot with the latest progress of its load.
    func loadState(_ slot: ImageSlot) -> ViewLoadState? {
        var state = slots[slot]?.loadState
        if let load = slots[slot]?.load, isLatest(load), !load.request.isUpgrade, let reading = load.latestReading {
            state?.progress = reading
        }
        return state
    }

    /// Removes a load that has ended.
    func forget(_ load: ViewLoad) {
        guard slots[load.slot] != nil else { return }
        change(load.slot) {
            if $0.load === load { $0.load = nil }
            $0.superseded.removeAll { $0 === load }
        }
    }

    // MARK: Showing

    private func showPlaceholder(of load: ViewLoad) {
        if load.showsInPaintable { installPaintable() }
        forgetShown(before: load)
        if load.showsInPaintable { forgetSlots(replacedBy: load.slot) }
        load.setter(load.request.placeholder?.content(for: view), nil)
    }

    /// Shows the loaded image, unless a newer one is shown in its slot.
    ///
    /// - Parameter then: called once the view has the image; with ``WebImageOptions/waitTransition`` when the transition has ended.
    func show(_ result: WebImageResult, of load: ViewLoad, then: @escaping () -> Void) {
        guard load.number >= slots[load.slot]?.shownNumber ?? 0, let content = PaintableContent(result.image) else {
            return then()
        }
        // More pixels for an image that is not visible any more.
        if load.request.isUpgrade, shownBefore(load)?.load.number != load.number { return then() }
        if load.request.isUpgrade { exchange(result.image, of: load) }
        let isPreview = result.image.metadata.isIncremental
        if !isPreview { slots[load.slot, default: Slot()].shownNumber = load.number }
        if load.showsInPaintable {
            installPaintable()
            forgetSlots(replacedBy: load.slot)
            if load.request.isUpgrade {
                shown = ShownLoad(load: load, image: result.image)
                continuingAnimation(of: load) { paintable.exchange(content) }
                return then()
            }
        }
        // Only buttons have a separate paintable for transitions.
        if load.transitionTarget != nil { button?.delivery = load }
        defer { button?.delivery = nil }
        guard let transition, result.usesTransition(load.request), let target = target(of: load, content) else {
            if isPreview { forgetShown(before: load) } else { note(shown: result.image, by: load) }
            continuingAnimation(of: load) { load.setter(content, result) }
            return then()
        }
        if transition.avoidAutoSetImage { forgetShown(before: load) } else { note(shown: result.image, by: load) }
        continuingAnimation(of: load, isLedTo: true) {
            run(transition, in: target, to: content, result, of: load, then: then)
        }
    }

    /// Records how the visible image was loaded, so that it can be loaded again with more pixels.
    private func note(shown image: Image, by load: ViewLoad) {
        let shown = ShownLoad(load: load, image: image)
        if load.showsInPaintable { self.shown = shown } else { change(load.slot) { $0.shown = shown } }
    }

    /// The image that is visible where the load's image will be; nil if it cannot be loaded again.
    private func shownBefore(_ load: ViewLoad) -> ShownLoad? {
        load.showsInPaintable ? shown : slots[load.slot]?.shown
    }

    /// Forgets how the visible image was loaded: its replacement cannot be loaded again, or a transition starts.
    private func forgetShown(before load: ViewLoad) {
        if load.showsInPaintable { shown = nil } else { change(load.slot) { $0.shown = nil } }
    }

    /// The paintable in which a transition to the load's image or placeholder would be visible.
    private func target(of load: ViewLoad, _ content: PaintableContent?) -> ImagePaintable? {
        load.showsInPaintable ? paintable : load.transitionTarget?(content)
    }

    /// Shows the placeholder that was delayed until the load failed.
    ///
    /// - Parameter then: called once the view has it; with ``WebImageOptions/waitTransition`` when the transition has ended.
    func showFailure(of load: ViewLoad, then: @escaping () -> Void) {
        guard load.request.options.contains(.delayPlaceholder), !load.request.isUpgrade, isLatest(load) else {
            return then()
        }
        let content = load.request.placeholder?.content(for: view)
        guard let transition, let target = target(of: load, content) else {
            showPlaceholder(of: load)
            return then()
        }
        if load.showsInPaintable {
            installPaintable()
            forgetSlots(replacedBy: load.slot)
        }
        forgetShown(before: load)
        run(transition, in: target, to: content, nil, of: load, then: then)
    }

    /// Shows the delayed placeholder of a cancelled load, at once and without a transition, because another load may start next. Without a
    /// placeholder, the view keeps its content. A load that replaces this one shows its own placeholder, or with
    /// ``WebImageOptions/delayPlaceholder`` keeps the content.
    func showCancellation(of load: ViewLoad) {
        guard load.request.options.contains(.delayPlaceholder), load.request.placeholder != nil,
            !load.request.isUpgrade, isLatest(load), !isEnded, !isClearing, slots[load.slot]?.isVacating != true
        else { return }
        showPlaceholder(of: load)
    }

    private func run(
        _ transition: WebImageTransition,
        in paintable: ImagePaintable,
        to content: PaintableContent?,
        _ result: WebImageResult?,
        of load: ViewLoad,
        then: @escaping () -> Void
    ) {
        let kept = keepView()
        defer { kept.end() }
        let newest = slots[load.slot]?.lastNumber
        // Both calls may start another load, whose images take precedence.
        paintable.endTransition(finished: false)
        transition.prepares?(view, result)
        guard slots[load.slot]?.lastNumber == newest else { return then() }
        let waits = load.request.options.contains(.waitTransition)
        paintable.show(content, by: transition) { finished in
            transition.completion?(finished)
            if waits { then() }
        }
        if !waits { then() }
    }
}

extension WebImageResult {
    /// Returns whether the image arrived asynchronously, so that a transition runs.
    fileprivate func usesTransition(_ request: ViewLoad.Request) -> Bool {
        guard !image.metadata.isIncremental, !request.isUpgrade else { return false }
        if request.options.contains(.forceTransition) { return true }
        if cacheType == .none { return true }
        let waited = request.options.isDisjoint(with: [.queryMemoryDataSync, .queryDiskDataSync])
        return cacheType == .disk && waited
    }
}
