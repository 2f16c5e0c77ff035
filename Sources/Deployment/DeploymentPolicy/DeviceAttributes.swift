/// The facts that a device knows about itself, which rules ask about.
///
/// An unknown attribute is `nil`; comparisons with it are unknown, so rules that depend on it do not match.
public struct DeviceAttributes: Sendable, Hashable {
    /// The device's preferred language as a BCP 47 tag: `en-GB`.
    public var languageCode: String?
    /// The class of the device.
    public var deviceClass: DeviceClass?
    /// The operating system's name: `iOS`, `iPadOS`, `macOS`, `Linux`.
    public var operatingSystem: String?
    /// The version of the operating system.
    public var osVersion: VersionNumber?
    /// The region, as two letters of ISO 3166-1 or three digits of UN M49: `GB`, `419`.
    public var regionCode: String?
    /// The version of the app.
    public var appVersion: VersionNumber?
    /// The build number of the app, compared as a version.
    public var appBuild: VersionNumber?
    /// The manufacturer's identifier of the device model: `iPad14,8`.
    public var deviceModel: String?
    /// The machine's memory in bytes.
    public var memory: Int?
    /// The number of logical processor cores.
    public var cores: Int?
    /// The best accelerator that models run on: `none`, `gpu`, `neuralEngine`.
    public var accelerator: String?
    /// The free bytes on the volume where models are stored.
    public var freeDisk: Int?
    /// The version of the runtime that loads models; releases that need a later one are refused.
    public var runtimeVersion: VersionNumber?
    /// The channel through which the app was distributed: `beta`, `store`.
    public var channel: String?
    /// The app's own signals by name, without the prefix `custom.`.
    public var custom: [String: Signal] = [:]
    /// The random identifier of this installation, 1 to 128 bytes, which decides buckets and segments and is never
    /// sent.
    public var installID: String?

    /// The value of a signal that the app defines.
    public enum Signal: Sendable, Hashable {
        /// A text.
        case text(String)
        /// A finite number; any other counts as unknown.
        case number(Double)
        /// A Boolean.
        case flag(Bool)
    }

    /// Creates attributes that are all unknown.
    public init() {}

    /// The install ID that buckets and segments are computed from; `nil` when it is missing, empty or too long.
    var usableInstallID: String? {
        guard let installID, (1...Limits.installIDBytes).contains(installID.utf8.count) else { return nil }
        return installID
    }

    /// The value of an attribute; `nil` where the device does not know it.
    public subscript(_ attribute: Attribute) -> AttributeValue? {
        switch attribute {
        case .languageCode: languageCode.map(AttributeValue.text)
        case .deviceClass: deviceClass.map { .text($0.rawValue) }
        case .operatingSystem: operatingSystem.map(AttributeValue.text)
        case .osVersion: osVersion.map(AttributeValue.version)
        case .regionCode: regionCode.map(AttributeValue.text)
        case .appVersion: appVersion.map(AttributeValue.version)
        case .appBuild: appBuild.map(AttributeValue.version)
        case .deviceModel: deviceModel.map(AttributeValue.text)
        case .memory: memory.map { .number(Double($0)) }
        case .cores: cores.map { .number(Double($0)) }
        case .accelerator: accelerator.map(AttributeValue.text)
        case .freeDisk: freeDisk.map { .number(Double($0)) }
        case .runtimeVersion: runtimeVersion.map(AttributeValue.version)
        case .channel: channel.map(AttributeValue.text)
        case .custom(let name):
            switch custom[name] {
            case .text(let text): .text(text)
            case .number(let number): number.isFinite ? .number(number) : nil
            case .flag(let flag): .flag(flag)
            case nil: nil
            }
        }
    }
}
