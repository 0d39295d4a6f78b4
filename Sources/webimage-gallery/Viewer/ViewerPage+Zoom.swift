import CWebImageGTK4
import WebImageGTK

extension ViewerPage {
    func zoomIn() { zoom.zoomIn() }
    func zoomOut() { zoom.zoomOut() }
    func showPixels() { zoom.setZoom(1) }
    func fit() { zoom.fit() }

    /// Shows the zoom below the image.
    func zoomChanged() {
        gtk_label_set_text(zoomLabel.opaque, zoom.isFitting ? "Fit" : ZoomText.percent(zoom.zoom))
    }
}

/// Formats zoom factors.
enum ZoomText {
    /// Formats per cent: integers from 10 up, one decimal below.
    static func percent(_ zoom: Double) -> String {
        let tenths = (zoom * 1000).rounded()
        guard tenths.isFinite, abs(tenths) < 1e9 else { return "" }
        if tenths >= 100 { return "\(Int((zoom * 100).rounded())) %" }
        return "\(Int(tenths) / 10).\(Int(tenths) % 10) %"
    }
}
