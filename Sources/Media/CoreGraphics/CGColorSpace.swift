public enum CGColorSpaceModel: Int32, Sendable {
    case unknown = -1
    case monochrome = 0
    case rgb = 1
    case cmyk = 2
}

/// The meaning of colour components.  Colours are not managed: every RGB space is taken for sRGB, and every grey
/// space for its luminance.
public final class CGColorSpace: Sendable, Equatable {
    public let model: CGColorSpaceModel
    public var numberOfComponents: Int { model == .monochrome ? 1 : 3 }
    private let spaceName: String
    public var name: CFString? { NSString(string: spaceName) }

    public static var sRGB: CFString { "kCGColorSpaceSRGB" }
    public static var linearSRGB: CFString { "kCGColorSpaceLinearSRGB" }
    public static var displayP3: CFString { "kCGColorSpaceDisplayP3" }
    public static var genericRGBLinear: CFString { "kCGColorSpaceGenericRGBLinear" }
    public static var linearGray: CFString { "kCGColorSpaceLinearGray" }
    public static var genericGrayGamma2_2: CFString { "kCGColorSpaceGenericGrayGamma2_2" }

    init(model: CGColorSpaceModel, name: String) {
        self.model = model
        spaceName = name
    }

    /// A space by name; `nil` when the name is not one of the constants above.
    public convenience init?(name: CFString) {
        let known: [(CFString, CGColorSpaceModel)] = [
            (Self.sRGB, .rgb), (Self.linearSRGB, .rgb), (Self.displayP3, .rgb), (Self.genericRGBLinear, .rgb),
            (Self.linearGray, .monochrome), (Self.genericGrayGamma2_2, .monochrome),
        ]
        guard let match = known.first(where: { $0.0.isEqual(name) }) else { return nil }
        self.init(model: match.1, name: String(describing: match.0))
    }

    public static func == (a: CGColorSpace, b: CGColorSpace) -> Bool {
        a.model == b.model && a.spaceName == b.spaceName
    }
}

public func CGColorSpaceCreateDeviceRGB() -> CGColorSpace { CGColorSpace(model: .rgb, name: "kCGColorSpaceDeviceRGB") }
public func CGColorSpaceCreateDeviceGray() -> CGColorSpace {
    CGColorSpace(model: .monochrome, name: "kCGColorSpaceDeviceGray")
}
