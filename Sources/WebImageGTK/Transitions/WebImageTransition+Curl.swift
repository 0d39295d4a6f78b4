import CWebImageGTK4
import WebImage

extension WebImageTransition {
    /// The old image rolls up from the bottom like a page and uncovers the new one.
    public static var curlUp: WebImageTransition { .curlUp() }
    /// The new image rolls out from the top like a page, over the old one.
    public static var curlDown: WebImageTransition { .curlDown() }

    /// The old image rolls up from the bottom like a page and uncovers the new one.
    ///
    /// - Parameter duration: the duration in seconds.
    public static func curlUp(duration: Double = 0.5) -> WebImageTransition {
        WebImageTransition(duration: duration) { moment in
            if !moment.drawEnds() { moment.drawCurl(of: .old, over: .new, lifted: moment.progress) }
        }
    }

    /// The new image rolls out from the top like a page, over the old one.
    ///
    /// - Parameter duration: the duration in seconds.
    public static func curlDown(duration: Double = 0.5) -> WebImageTransition {
        WebImageTransition(duration: duration) { moment in
            if !moment.drawEnds() { moment.drawCurl(of: .new, over: .old, lifted: 1 - moment.progress) }
        }
    }
}

extension TransitionMoment {
    /// The height of the roll, relative to the images.
    private static let rollPart = 0.2

    /// Draws a page that is flat above a line and rolled up from there.
    ///
    /// - Parameter lifted: the rolled-up part, 0...1.
    fileprivate func drawCurl(of page: Layer, over ground: Layer, lifted: Double) {
        guard let stage else { return }
        let line = stage.bottom - lifted * stage.height
        let all = stage.union(viewRect).union(rect(of: .old)).union(rect(of: .new))
        clipped(to: ImageRect(x: all.x, y: line, width: all.width, height: all.bottom - line)) { draw(ground) }
        clipped(to: ImageRect(x: all.x, y: all.y, width: all.width, height: line - all.y)) { draw(page) }
        guard content(of: page) != nil else { return }
        let roll = min(stage.bottom - line, stage.height * Self.rollPart)
        drawRoll(of: page, above: line, roll)
        drawShadow(on: ground, of: page, below: line, roll * min(4 * (1 - lifted), 1))
    }

    /// Draws the back of the page: its content, mirrored and paler.
    private func drawRoll(of page: Layer, above line: Double, _ roll: Double) {
        let rect = rect(of: page)
        let mirrored = ImageRect(x: rect.x, y: 2 * line - rect.bottom, width: rect.width, height: rect.height)
        let strip = ImageRect(x: rect.x, y: line - roll, width: rect.width, height: roll)
        guard let visible = mirrored.intersection(strip) else { return }
        clipped(to: visible) {
            var half = graphene_matrix_t()
            graphene_matrix_init_scale(&half, 0.5, 0.5, 0.5)
            var rest = graphene_vec4_t()
            graphene_vec4_init(&rest, 0.5, 0.5, 0.5, 0)
            gtk_snapshot_push_color_matrix(snapshot, &half, &rest)
            gtk_snapshot_save(snapshot)
            var offset = graphene_point_t(x: 0, y: Float(2 * line))
            gtk_snapshot_translate(snapshot, &offset)
            gtk_snapshot_scale(snapshot, 1, -1)
            draw(page)
            gtk_snapshot_restore(snapshot)
            gtk_snapshot_pop(snapshot)
        }
        guard content(of: page)?.isOpaque == true else { return }
        shade(visible, from: (0, line - roll), to: (0, line), [0.35, 0, 0, 0.35])
    }

    private func drawShadow(on ground: Layer, of page: Layer, below line: Double, _ height: Double) {
        guard content(of: ground)?.isOpaque == true else { return }
        let rect = rect(of: page)
        let strip = ImageRect(x: rect.x, y: line, width: rect.width, height: height)
        guard let visible = strip.intersection(self.rect(of: ground)) else { return }
        shade(visible, from: (0, line), to: (0, line + height), [0.35, 0])
    }
}
