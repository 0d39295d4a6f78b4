/// How a colour is put on a picture: what its pixels become. Raw values are those of `CGBlendMode`.
///
/// The modes up to ``luminosity`` mix both where both are, and leave each alone where it is alone; the others are the operators of
/// Porter and Duff, the colour being the source and the picture the destination.
public enum ImageBlendMode: Int, Sendable, Hashable, CaseIterable {
    /// The colour over the picture.
    case normal = 0
    /// Both multiplied; never lighter than either.
    case multiply = 1
    /// Both inverted, multiplied, inverted again; never darker than either.
    case screen = 2
    /// ``multiply`` where the picture is dark, ``screen`` where it is light.
    case overlay = 3
    /// The darker of both, for each component.
    case darken = 4
    /// The lighter of both, for each component.
    case lighten = 5
    /// The picture made lighter by the colour.
    case colorDodge = 6
    /// The picture made darker by the colour.
    case colorBurn = 7
    /// Darkened or lightened gently, as by a diffuse light.
    case softLight = 8
    /// ``multiply`` if the colour is dark, ``screen`` if it is light.
    case hardLight = 9
    /// The difference of both.
    case difference = 10
    /// Like ``difference`` with less contrast.
    case exclusion = 11
    /// The hue of the colour, saturation and luminosity of the picture.
    case hue = 12
    /// The saturation of the colour, hue and luminosity of the picture.
    case saturation = 13
    /// Hue and saturation of the colour, the luminosity of the picture.
    case color = 14
    /// The luminosity of the colour, hue and saturation of the picture.
    case luminosity = 15
    /// Nothing is left.
    case clear = 16
    /// The colour alone.
    case copy = 17
    /// The colour in the shape of the picture.
    case sourceIn = 18
    /// The colour where the picture is not.
    case sourceOut = 19
    /// The colour over the picture, in the shape of the picture.
    case sourceAtop = 20
    /// The picture over the colour.
    case destinationOver = 21
    /// The picture as far as the colour is opaque.
    case destinationIn = 22
    /// The picture as far as the colour is clear.
    case destinationOut = 23
    /// The picture over the colour, as far as the colour is opaque.
    case destinationAtop = 24
    /// Each where the other is not.
    case xor = 25
    /// What both lack of white is added up.
    case plusDarker = 26
    /// Both are added up.
    case plusLighter = 27
}
