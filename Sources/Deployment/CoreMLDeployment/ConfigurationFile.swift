import DeploymentClient
import DeploymentPolicy
import Foundation

/// The locations of an app's configuration and of its models.
enum ConfigurationFile {
    private static var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// The path of `ModelDeployment.json`: that of `COREML_DEPLOYMENT`, or in the resources of the app or one of its
    /// targets.
    static func path() -> String? {
        if let path = environment["COREML_DEPLOYMENT"], !path.isEmpty { return path }
        let name = DeploymentConfiguration.fileName
        let beside = Bundle.main.bundlePath
        let folders = ((try? FileManager.default.contentsOfDirectory(atPath: beside)) ?? []).filter {
            $0.hasSuffix(".resources") || $0.hasSuffix(".bundle")
        }
        let places = [Bundle.main.resourcePath, beside].compactMap { $0 } + folders.sorted().map { beside + "/" + $0 }
        return places.map { $0 + "/" + name }.first { FileManager.default.fileExists(atPath: $0) }
    }

    /// The token that a device enrols with when the app sets none: `COREML_ENROLMENT_TOKEN`.
    static var enrolmentToken: String? {
        environment["COREML_ENROLMENT_TOKEN"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The folder of an app's models, by the conventions of the XDG base directories.
    static func dataFolder(of configuration: DeploymentConfiguration) -> String {
        let base =
            environment["XDG_DATA_HOME"].flatMap { $0.isEmpty ? nil : $0 }
            ?? FileManager.default.homeDirectoryForCurrentUser.path + "/.local/share"
        return "\(base)/swift-coreml/collections/\(configuration.app)/\(configuration.environment)"
    }

    /// The device with the attributes of the JSON object in `COREML_DEVICE`, so that one machine can stand for several.
    static func simulated(_ device: DeviceAttributes) -> DeviceAttributes {
        guard let text = environment["COREML_DEVICE"], let other = try? DeviceAttributes(json: Array(text.utf8)) else {
            return device
        }
        var device = device
        device.languageCode = other.languageCode ?? device.languageCode
        device.regionCode = other.regionCode ?? device.regionCode
        device.deviceClass = other.deviceClass ?? device.deviceClass
        device.operatingSystem = other.operatingSystem ?? device.operatingSystem
        device.osVersion = other.osVersion ?? device.osVersion
        device.appVersion = other.appVersion ?? device.appVersion
        device.appBuild = other.appBuild ?? device.appBuild
        device.deviceModel = other.deviceModel ?? device.deviceModel
        device.memory = other.memory ?? device.memory
        device.cores = other.cores ?? device.cores
        device.accelerator = other.accelerator ?? device.accelerator
        device.channel = other.channel ?? device.channel
        device.custom.merge(other.custom) { $1 }
        return device
    }
}
