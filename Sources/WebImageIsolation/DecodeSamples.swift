import FoundationEssentials

/// A tiny image of each format. A worker decodes those of its kind before it enters the sandbox, so that the libraries have already
/// loaded what they need once: plug-ins, tables, the number of processors.
enum DecodeSamples {
    private static let images: [Data] = encoded.compactMap { Data(base64Encoded: $0) }

    /// Returns the images that a worker decodes before it enters the sandbox, with their options.
    static func samples(for kind: WorkerKind) -> [(data: Data, options: ImageDecodeOptions)] {
        let options = ImageDecodeOptions()
        switch kind {
        case .sealed: return images.map { ($0, options) }
        case .fonts: return (images + [Data(drawing.utf8)]).map { ($0, options) }
        case .pdf: return [(Data(document.utf8), options)]
        case .video: return videos.compactMap { Data(base64Encoded: $0) }.map { ($0, options) }
        case .raw:
            guard let data = Data(base64Encoded: raw) else { return [] }
            var developing = options
            developing.rawDevelopment = .full
            return [(data, options), (data, developing)]
        }
    }

    /// A document of one page with text in fonts that are not embedded, a JPEG and transparency.
    static var document: String {
        let jpeg = encoded[0]
        let bytes = Data(base64Encoded: jpeg) ?? Data()
        let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + ">"
        let content =
            "/G gs BT /F 9 Tf 2 50 Td (a) Tj /T 9 Tf (a) Tj /C 9 Tf (a) Tj /S 9 Tf (a) Tj ET q 9 0 0 9 0 0 cm /I Do Q"
        let fonts = [("F", "Helvetica"), ("T", "Times-Roman"), ("C", "Courier"), ("S", "Symbol")]
            .map { "/\($0.0) <</Type /Font /Subtype /Type1 /BaseFont /\($0.1)>>" }.joined()
        let objects = [
            "<</Type /Catalog /Pages 2 0 R>>", "<</Type /Pages /Kids [3 0 R] /Count 1>>",
            "<</Type /Page /Parent 2 0 R /MediaBox [0 0 64 64] /Contents 4 0 R /Resources <</Font <<\(fonts)>> /XObject <</I 5 0 R>> /ExtGState <</G <</ca 0.5>>>>>>>>",
            "<</Length \(content.utf8.count)>>\nstream\n\(content)\nendstream",
            "<</Type /XObject /Subtype /Image /Width 16 /Height 16 /BitsPerComponent 8 /ColorSpace /DeviceRGB /Filter [/ASCIIHexDecode /DCTDecode] /Length \(hex.utf8.count)>>\nstream\n\(hex)\nendstream",
        ]
        var text = "%PDF-1.7\n"
        var table = "0000000000 65535 f \n"
        for (index, object) in objects.enumerated() {
            let offset = String(text.utf8.count)
            table += String(repeating: "0", count: 10 - offset.count) + offset + " 00000 n \n"
            text += "\(index + 1) 0 obj\n\(object)\nendobj\n"
        }
        let start = text.utf8.count
        return text + "xref\n0 \(objects.count + 1)\n\(table)"
            + "trailer\n<</Size \(objects.count + 1) /Root 1 0 R>>\nstartxref\n\(start)\n%%EOF\n"
    }

    /// A drawing with text in the usual fonts, and with images of all formats that drawings may contain: each needs a library that
    /// must be loaded.
    static var drawing: String {
        let images = encoded.map(image).joined()
        let inner = Data(
            "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><path d='M0 0h9v9z'/></svg>".utf8
        )
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="64" height="64">
            <defs><filter id="f"><feGaussianBlur stdDeviation="1"/></filter></defs><rect width="9" height="9" filter="url(#f)"/>
            <text y="20" font-family="sans-serif">a</text><text y="40" font-family="serif">a</text>
            <text y="60" font-family="monospace">a</text>\(images)
            <image width="9" height="9" href="data:image/svg+xml;base64,\(inner.base64EncodedString())"/></svg>
            """
    }

    private static func image(_ base64: String) -> String {
        let format = Data(base64Encoded: base64).map { ImageFormat(detecting: $0) } ?? .undefined
        return "<image width='9' height='9' href='data:\(format.mimeType);base64,\(base64)'/>"
    }

    /// A raw file of a camera, a DNG with a preview, mosaic data in lossless JPEG, and the colours of a camera.
    private static let raw =
        "SUkqAAgAAAAaAP4ABAABAAAAAAAAAAABBAABAAAAGAAAAAEBBAABAAAAGAAAAAIBAwABAAAAEAAAAAMBAwABAAAABwAAAAYBAwABAAAAI4AAAA8BAgAJAAAARgEAABAB"
        + "AgAIAAAAUAEAABEBBAABAAAAWAEAABIBAwABAAAAAQAAABUBAwABAAAAAQAAABYBBAABAAAAGAAAABcBBAABAAAAqgEAABwBAwABAAAAAQAAAEoBBAABAAAAAgMAAI2C"
        + "AwACAAAAAgACAI6CAQAEAAAAAAEBAhLGAQAEAAAAAQQAABPGAQAEAAAAAQEAABTGAgARAAAANAQAABrGAwABAAAAAAAAAB3GBAABAAAA/w8AAB3GBAABAAAA/w8AACHG"
        + "CgAJAAAARgQAACjGBQADAAAAjgQAAFrGAwABAAAAFQAAAAAAAABXZWJJbWFnZQAARml4dHVyZQD/2P/EACQAAAAAABEAAAAAAAAAAAAAAAABAgMEBQYHCAkKCwwNDg8Q"
        + "/8MACwwAGAAYAQERAP/aAAgBAQABAAAyAQAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "/9kLAP4ABAABAAAAAQAAAAABBAABAAAAEAAAAAEBBAABAAAAEAAAAAIBAwADAAAAjAMAAAMBAwABAAAABwAAAAYBAwABAAAABgAAABEBBAABAAAAkgMAABUBAwABAAAA"
        + "AwAAABYBBAABAAAAEAAAABcBBAABAAAAoQAAABwBAwABAAAAAQAAAAAAAAAIAAgACAD/2P/gABBKRklGAAEBAAABAAEAAP/bAEMAUDc8RjwyUEZBRlpVUF94yIJ4bm54"
        + "9a+5kcj////////////////////////////////////////////////////AAAsIABAAEAEBEQD/xAAVAAEBAAAAAAAAAAAAAAAAAAAAAv/EABQQAQAAAAAAAAAAAAAA"
        + "AAAAAAD/2gAIAQEAAD8AgB//2QBXZWJJbWFnZSBGaXh0dXJlAACWfgAAECcAAPTD//8QJwAAhuz//xAnAAAn2v//ECcAAEZJAAAQJwAAnwEAABAnAAAtAgAAECcAAAj4"
        + "//8QJwAASikAABAnAAABAAAAAQAAAAEAAAABAAAAAQAAAAEAAAA="

    private static let encoded = [
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKBTmCNl4x9lnN+gXz/"
            + "2wBDARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHz/wAARCAAQABADASIAAhEBAxEB/8QA"
            + "FQABAQAAAAAAAAAAAAAAAAAABQT/xAAYEAACAwAAAAAAAAAAAAAAAAAAAwQhMf/EABQBAQAAAAAAAAAAAAAAAAAAAAD/xAAWEQADAAAAAAAAAAAAAAAAAAAA"
            + "AgT/2gAMAwEAAhEDEQA/AAkQsoSRCyi9ELKEkQsoKwjsP//Z",
        // RGB, which is inflated by ISA-L; palettes are not.
        "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAGUlEQVR42mOMqrBhIAUwMZAIRjWMahg6GgBtHwEumi0cbQAAAABJRU5ErkJggg==",
        "UklGRkAAAABXRUJQVlA4IDQAAADwAQCdASoQABAAA4BaJbACsAEPDBLy5EAA/vbilc+2EDbgzAeTCvp+2B/GmX/68Ct2QAAA",
        "R0lGODdhEAAQAIcAAHjQpHiIgLAwcDAwMAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACwAAAAAEAAQAEAIRwAHCBwoUIDBgwYHBljIsGGA"
            + "hAQLIkS4EIDFixgxRhw48WBEhx0HOByZsaRJixslhtzY0ePGhy0JjlyIUODMmyRP6tzJ02JAADs=",
        "SUkqAPACAACAACBBAAAgQAAIDAABggAAQFAACgwAAYHAADhAAAgJAAEhQAAoLAAFhgAAwNAAGhwAA4PAAHiEAgITMQBAMDAICAgBAUFCEmAIDg4BAgIAIEhI"
            + "BAoKAIFhYBAwMAIGhoBA4OAIHh4BCMzWchgQWEYCAUEAQDAoCAcGCdHAQEhAQ9ICAsKAQGBYCA0MAQHBoCA8OAQIB4CBERQMQmxCgYY0gDAcFAYEAwDAkHC0"
            + "IAYFhIDAwKAYGhYRVgDA8NAYIBwDBEPAYRyzUQUTrHDggbcoEAkGAgFA4EAsIDKJAgGhQEA4LAgHhgUVoEBEOCNvAgJiQCilWMoDi0bgkFDwGAoFg4FAwIAo"
            + "GhIb5QFA8LAoIBgFBENAoJBwFBMPClyacDAHC7seMAkMo8IsDBBI4DANBADAOBIDAPBQPOWAwEQYAwEgaAwEwcDPngMBUJYHCrLMOAkIq3I4Cw30FDQOEYkA"
            + "OA8EgOBAFAOBEFhCBgDgTBoDgUBwDgVB4OSADhK4JDBskQAsKK8RADQ88ZDwQEsEgQBEFAQBIFgQBMGBHBoEAVBwEAWB4EAXAAEgJAIPWEBICw17eEgND7wW"
            + "SA8QhLJEEhQJQEgTBYEgUBgEgVBoS+cBIFweBIJK9oIFALAQQoGBQDQIEcqWPDPxmUBERxQRMFBVBYFAVBgFAWBoFAXBwUQeBQGQABYCwCELBAWA0BhHggFg"
            + "PCQwcWBEOTLRYExL9UlQWFoGAWBcGgWBgHAWBkHhV4AQyCBgDQEEfBgYA8CBMYoGARCoxsYBMPlQZgFRRFolwYF7mgYBkHAYBoHgYBsAAaA0AhIIQGgPAYTK"
            + "IBoEQKFGJOTC/S6aBUQ3VRoFxV98GQaGPHAaBsHgaCVyICBwDwEE0BgcBECBRwoHATAwVmq5UNVQxwFxIdpHAZFr4+bBwaGeBwHQAB4DwCE1hAeBEBhSIgHg"
            + "TAoVqMB4FQlswHgXBIX+UB4GRNV8ngbF/aIdB4bUgIAKAAABAwABAAAAEAAAAAEBAwABAAAAEAAAAAIBAwADAAAAbgMAAAMBAwABAAAABQAAAAYBAwABAAAA"
            + "AgAAABEBBAABAAAACAAAABUBAwABAAAAAwAAABYBAwABAAAAEAAAABcBBAABAAAA6AIAABwBAwABAAAAAQAAAAAAAAAIAAgACAA=",
        "AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUEAAADybWV0YQAAAAAAAAAoaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAAAGxpYmF2aWYAAAAADnBp"
            + "dG0AAAAAAAEAAAAeaWxvYwAAAABEAAABAAEAAAABAAABGgAAACEAAAAoaWluZgAAAAAAAQAAABppbmZlAgAAAAABAABhdjAxQ29sb3IAAAAAamlwcnAAAABL"
            + "aXBjbwAAABRpc3BlAAAAAAAAABAAAAAQAAAAEHBpeGkAAAAAAwgICAAAAAxhdjFDgSAAAAAAABNjb2xybmNseAABAA0ABoAAAAAXaXBtYQAAAAAAAAABAAEE"
            + "AQKDBAAAACltZGF0EgAKCDgM/9hAQ0GkMhMdwD3330QAAYh0ChOcWChcOftu",
        "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAa1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRtAAAAAAACAAAA"
            + "EGlkYXQAAAAAABAAEAAAADhpbG9jAQAAAERAAAIAAQAAAAAAAAHRAAEAAAAAAAAAMQACAAEAAAAAAAAAAQAAAAAAAAAIAAAAOGlpbmYAAAAAAAIAAAAVaW5m"
            + "ZQIAAAEAAQAAaHZjMQAAAAAVaW5mZQIAAAAAAgAAZ3JpZAAAAADYaXBycAAAALZpcGNvAAAAdmh2Y0MBA3AAAAAAAAAAAAAe8AD8/fj4AAAPAyAAAQAYQAEM"
            + "Af//A3AAAAMAkAAAAwAAAwAeugJAIQABACpCAQEDcAAAAwCQAAADAAADAB6gIIEFluqumubgQEDAgAAAAwCAAAADAIQiAAEABkQBwXPBiQAAABRpc3BlAAAA"
            + "AAAAAEAAAABAAAAAFGlzcGUAAAAAAAAAEAAAABAAAAAQcGl4aQAAAAADCAgIAAAAGmlwbWEAAAAAAAAAAgABAoECAAICA4QAAAAaaXJlZgAAAAAAAAAOZGlt"
            + "ZwACAAEAAQAAADltZGF0AAAALSgBrwtIV6iQ9f0IoT9pNwIEg4NTGcoogMDv/pxm//cM6DtAtvVRbRCxNkZDgA==",
        "/wpDQEJxIQoBAACcAAA4AFgAWEooMd1c9HTg2QON0AhnJIWOQW//BZV28oCACzLauus2AODDBKIBANQAmXgKAIAKlVHGDV7O9Xz5ocNi2sZ1hrbatrAkEUoh"
            + "iWQNkLCZPQmVJM7AeVvh8d+uNGoMBAE=",
        "Qk1UAAAAAAAAACAAAAAMAAAAEwANAAEAAQDMICKZl3+QtEAAZVoAADJ2IABSr+AABauAADUcwAAQ6eAAcKRAAAnoQAAYZ0AAa76g"
            + "ANK/gACGvkAA",
        "AAABAAEAGBgAAAEAAQDwAAAAFgAAACgAAAAYAAAAMAAAAAEAAQAAAAAAAAAAABMLAAATCwAAAAAAAAAAAAAtFc8AzS48AGSl7QC7"
            + "0c0AYFg7APFvWABMfNoAMFsuAAZ0kgBzWFUAVB19AGOkWABM9A4AA+tzAJhsMgB6hNoACBfXAK8saQD5l1gAgsB8AHG/9gAbMaUA"
            + "nW06AEY+xQDnphwAwjDNADGMYwAYxjEAjGMYAMYxjABjGMYAMYxjABjGMQCMYxgAxjGMAGMYxgAxjGMAGMYxAIxjGADGMYwAYxjG"
            + "ADGMYwAYxjEAjGMYAMYxjABjGMYAMYxjABjGMQCMYxgAxjGMAA==",
    ]
}
