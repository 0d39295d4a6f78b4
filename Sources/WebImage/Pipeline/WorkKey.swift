/// Names a piece of shared work: two loads whose keys are equal at a level share the work of that level.
///
/// Indirect, because keys are big and get copied often: a copy is one more owner of a box.
indirect enum WorkKey: Hashable, Sendable {
    /// Reading an entry of a disk cache.
    case diskRead(cache: ObjectIdentifier, key: String)
    /// Getting bytes from a loader.
    case load(LoadKey)
    /// Getting the original bytes, from disk or from a loader.
    case data(DataKey)
    /// Making an image of the original bytes.
    case decode(DecodeKey)
    /// Applying the first transformers of a chain, by their keys.
    case transform(DecodeKey, chain: [String], gate: TransformGate)
    /// Getting the image that callers asked for, stored where they want it.
    case result(ResultKey)

    struct LoadKey: Hashable, Sendable {
        var url: String
        var loader: ObjectIdentifier
        /// The options that change what is sent.
        var options: WebImageOptions
        /// What else changes it; nil for most loads, whose keys stay small.
        var extras: LoadExtras?
    }

    struct LoadExtras: Hashable, Sendable {
        var headers: HTTPHeaders
        var loadValues: OptionValues
        var hooks: LoadHooks?
        /// With whose rights, as a digest: those of the loader's own fields among them.
        var rights: String?

        /// Nil when there are none.
        init?(headers: HTTPHeaders, loadValues: OptionValues, hooks: LoadHooks?, rights: String? = nil) {
            if headers.fields.isEmpty, loadValues.isEmpty, hooks == nil, rights == nil { return nil }
            self.rights = rights
            self.headers = headers
            self.loadValues = loadValues
            self.hooks = hooks
        }
    }

    struct DataKey: Hashable, Sendable {
        /// Nil when the caches must not be asked or the key filter gave none.
        var cacheKey: String?
        var cache: ObjectIdentifier
        var queriesDisk: Bool
        var storesDisk: Bool
        /// Whether the loader is asked for what is newer than the entry on disk.
        var refreshes: Bool
        /// Whether not everything may be stored; see ``StorageRule``.
        var isSelective: Bool
        /// Whether a refresh asks whatever is known.
        var asksAlways = false
        /// What is asked of an entry on disk.
        var entryRule: EntryRule?
        /// What is known of an original that is not on disk.
        var derived: SourceContent?
        var serializer: ObjectIdentifier?
        /// Nil when only the caches may be asked.
        var load: LoadKey?
    }

    struct DecodeKey: Hashable, Sendable {
        var data: DataKey
        var coder: CoderIdentity
        var options: ImageDecodeOptions
        /// Whether previews are made.
        var isProgressive = false
    }

    struct ResultKey: Hashable, Sendable {
        var decode: DecodeKey
        var chain: [String]
        var gate: TransformGate
        var cacheKey: String?
        var cache: ObjectIdentifier
        var queriesMemory: Bool
        var queriesDisk: Bool
        var queriesOriginalMemory: Bool
        var store: ImageCacheType
        var storesOriginalInMemory: Bool
        var encodeOptions: ImageEncodeOptions
        var serializer: ObjectIdentifier?
        /// Whether what is stored takes the place of what was there, whatever the caches do by themselves.
        var replaces: Bool
    }
}
