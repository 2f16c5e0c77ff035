/// The kind of components that a colour space has.
public enum CGColorSpaceModel: Int32, Sendable {
    /// A model not listed here; no colour space of this module has it.
    case unknown = -1
    /// One grey component.
    case monochrome = 0
    /// Red, green and blue.
    case rgb = 1
    /// Cyan, magenta, yellow and black; no colour space of this module has it.
    case cmyk = 2
}

/// The meaning of colour components.
///
/// There is no colour management: every RGB space is treated as sRGB, and every grey space as luminance.
public final class CGColorSpace: Sendable, Equatable {
    /// The kind of components: `rgb` or `monochrome`.
    public let model: CGColorSpaceModel
    /// The number of colour components without alpha: 1 for grey, 3 for RGB.
    public var numberOfComponents: Int { model == .monochrome ? 1 : 3 }
    private let spaceName: String
    /// The name that the space was created by, or the name of the device space.
    public var name: CFString? { NSString(string: spaceName) }

    /// The name of the sRGB space.
    public static var sRGB: CFString { "kCGColorSpaceSRGB" }
    /// The name of the space with sRGB's primaries and a linear transfer function.
    public static var linearSRGB: CFString { "kCGColorSpaceLinearSRGB" }
    /// The name of the Display P3 space.
    public static var displayP3: CFString { "kCGColorSpaceDisplayP3" }
    /// The name of the generic RGB space with a linear transfer function.
    public static var genericRGBLinear: CFString { "kCGColorSpaceGenericRGBLinear" }
    /// The name of the grey space with a linear transfer function.
    public static var linearGray: CFString { "kCGColorSpaceLinearGray" }
    /// The name of the grey space with gamma 2.2.
    public static var genericGrayGamma2_2: CFString { "kCGColorSpaceGenericGrayGamma2_2" }

    init(model: CGColorSpaceModel, name: String) {
        self.model = model
        spaceName = name
    }

    /// Creates the colour space of a name; `nil` when the name is none of this class's constants.
    public convenience init?(name: CFString) {
        let known: [(CFString, CGColorSpaceModel)] = [
            (Self.sRGB, .rgb), (Self.linearSRGB, .rgb), (Self.displayP3, .rgb), (Self.genericRGBLinear, .rgb),
            (Self.linearGray, .monochrome), (Self.genericGrayGamma2_2, .monochrome),
        ]
        guard let match = known.first(where: { $0.0.isEqual(name) }) else { return nil }
        self.init(model: match.1, name: String(describing: match.0))
    }

    /// Whether two spaces have the same model and name.
    public static func == (a: CGColorSpace, b: CGColorSpace) -> Bool {
        a.model == b.model && a.spaceName == b.spaceName
    }
}

/// Creates the device's RGB space, treated as sRGB.
public func CGColorSpaceCreateDeviceRGB() -> CGColorSpace { CGColorSpace(model: .rgb, name: "kCGColorSpaceDeviceRGB") }
/// Creates the device's grey space, treated as luminance.
public func CGColorSpaceCreateDeviceGray() -> CGColorSpace {
    CGColorSpace(model: .monochrome, name: "kCGColorSpaceDeviceGray")
}
