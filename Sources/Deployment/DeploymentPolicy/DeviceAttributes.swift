/// What a device knows about itself.  What it does not know is `nil`, and rules that ask for it do not match.
public struct DeviceAttributes: Sendable, Hashable {
    /// The device's preferred language as BCP 47 has it: `en-GB`.
    public var languageCode: String?
    public var deviceClass: DeviceClass?
    /// The system's name: `iOS`, `iPadOS`, `macOS`, `Linux`.
    public var operatingSystem: String?
    public var osVersion: VersionNumber?
    /// The region, ISO 3166-1 in two letters or UN M49 in three digits: `GB`, `419`.
    public var regionCode: String?
    public var appVersion: VersionNumber?
    public var appBuild: VersionNumber?
    /// The maker's name of the model: `iPad14,8`.
    public var deviceModel: String?
    /// The machine's memory in bytes.
    public var memory: Int?
    /// Logical processor cores.
    public var cores: Int?
    /// The best accelerator that models run on: `none`, `gpu`, `neuralEngine`.
    public var accelerator: String?
    /// Free bytes where models are stored.
    public var freeDisk: Int?
    /// The version of the runtime that loads models; releases that ask for a later one are refused.
    public var runtimeVersion: VersionNumber?
    /// The app's channel: `beta`, `store`.
    public var channel: String?
    /// The app's own signals by name, without `custom.`.
    public var custom: [String: Signal] = [:]
    /// The random name of this installation, 1 to 128 bytes, which decides on buckets and segments and is never sent.
    public var installID: String?

    /// The value of a signal.
    public enum Signal: Sendable, Hashable {
        case text(String)
        /// A finite number; any other counts as unknown.
        case number(Double)
        case flag(Bool)
    }

    public init() {}

    /// The install ID that buckets and segments are computed of; `nil` where there is none, or it is empty or too long.
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
