/// The way in which a colour is blended with an image. Raw values are those of `CGBlendMode`.
///
/// The modes up to ``luminosity`` blend where both are opaque; where only one is, it stays unchanged. The others are the Porter-Duff operators, with
/// the colour as the source and the image as the destination.
public enum ImageBlendMode: Int, Sendable, Hashable, CaseIterable {
    /// The colour over the image.
    case normal = 0
    /// Both multiplied; never lighter than either.
    case multiply = 1
    /// Both inverted, multiplied, inverted again; never darker than either.
    case screen = 2
    /// ``multiply`` where the image is dark, ``screen`` where it is light.
    case overlay = 3
    /// The darker of both, for each component.
    case darken = 4
    /// The lighter of both, for each component.
    case lighten = 5
    /// The image made lighter by the colour.
    case colorDodge = 6
    /// The image made darker by the colour.
    case colorBurn = 7
    /// Gently darkened or lightened, as by a diffuse light.
    case softLight = 8
    /// ``multiply`` if the colour is dark, ``screen`` if it is light.
    case hardLight = 9
    /// The difference of both.
    case difference = 10
    /// Like ``difference`` with less contrast.
    case exclusion = 11
    /// The hue of the colour, saturation and luminosity of the image.
    case hue = 12
    /// The saturation of the colour, hue and luminosity of the image.
    case saturation = 13
    /// Hue and saturation of the colour, the luminosity of the image.
    case color = 14
    /// The luminosity of the colour, hue and saturation of the image.
    case luminosity = 15
    /// Fully transparent.
    case clear = 16
    /// Only the colour.
    case copy = 17
    /// The colour in the shape of the image.
    case sourceIn = 18
    /// The colour where the image is transparent.
    case sourceOut = 19
    /// The colour over the image, in the shape of the image.
    case sourceAtop = 20
    /// The image over the colour.
    case destinationOver = 21
    /// The image where the colour is opaque.
    case destinationIn = 22
    /// The image where the colour is transparent.
    case destinationOut = 23
    /// The image over the colour, where the colour is opaque.
    case destinationAtop = 24
    /// Each where the other is transparent.
    case xor = 25
    /// The sum of both distances from white.
    case plusDarker = 26
    /// The sum of both.
    case plusLighter = 27
}
