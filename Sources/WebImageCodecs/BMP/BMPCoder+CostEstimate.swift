public import FoundationEssentials

extension BMPCoder {
    /// Returns the memory cost of a decode: a few rows, and with run-length coding the start of each row. For an embedded JPEG or PNG: that image's
    /// cost and a copy of its bytes. Cost: reads the header; with run-length coding, all commands.
    public func memoryNeed(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed {
        try data.withBytes { (bytes) throws(WebImageError) in
            let header = try BMPHeader(bytes)
            if let coder = Self.coderOfPayload(header) {
                var need = try coder.memoryNeed(of: Self.payload(data, header), options: options)
                need.workingByteCount += data.count
                return need
            }
            try options.limits.check(width: header.width, height: header.height)
            let runs = try Self.runs(header, bytes)
            let properties = Self.properties(header, bytes, runs, options.limits)
            let plan = try DecodePlan.make(for: properties, options: options)
            let assembly = AssemblyNeed(
                width: header.width,
                height: header.height,
                layout: properties.hasAlpha ? .rgba8 : .rgb8,
                hasTransform: header.profile != nil,
                hasAlpha: properties.hasAlpha,
                plan: plan,
                options: options
            )
            let starts = runs == nil ? 0 : 2 * header.height * MemoryLayout<BMPRuns.Start?>.stride
            return DecodeMemoryNeed(assembly, decoder: starts + 2 * (header.profile?.count ?? 0))
        }
    }
}
