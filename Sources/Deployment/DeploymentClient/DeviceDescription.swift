package import DeploymentPolicy
import Foundation
import Glibc
import MLFiles

/// The properties of this device and app, for the rules of policies.
///
/// They never leave the device.
package enum DeviceDescription {
    /// The version of this runtime, which releases may require.
    package static let runtimeVersion = "1.0"

    /// All properties that the system reports, for an app whose models are in `folder`.
    package static func detected(folder: String, installID: String) -> DeviceAttributes {
        var device = DeviceAttributes()
        device.languageCode = language()
        device.regionCode = Locale.current.region?.identifier
        device.deviceClass = deviceClass()
        device.operatingSystem = "Linux"
        device.osVersion = kernelVersion()
        let info = Bundle.main.infoDictionary
        device.appVersion = (info?["CFBundleShortVersionString"] as? String).flatMap { VersionNumber($0) }
        device.appBuild = (info?["CFBundleVersion"] as? String).flatMap { VersionNumber($0) }
        device.deviceModel = machineText("product_name")
        device.memory = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
        device.cores = ProcessInfo.processInfo.activeProcessorCount
        device.accelerator = "none"
        device.freeDisk = freeBytes(folder)
        device.runtimeVersion = VersionNumber(runtimeVersion)
        device.installID = installID
        return device
    }

    /// The random identifier of this installation, created when it is first needed.
    package static func installID(in folder: String) throws(DeploymentError) -> String {
        let path = folder + "/install-id"
        if let text = try Durable.read(path) { return String(decoding: text, as: UTF8.self) }
        return try FileLock.with(folder + "/lock") { () throws(DeploymentError) in
            if let text = try Durable.read(path) { return String(decoding: text, as: UTF8.self) }
            let text = (0..<16).map { _ in String(format: "%02x", UInt8.random(in: .min ... .max)) }.joined()
            try Durable.write(Array(text.utf8), to: path)
            return text
        }
    }

    /// The user's preferred language: `en-GB`.
    private static func language() -> String? {
        let environment = ProcessInfo.processInfo.environment
        let names = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }
        guard let name = names.first(where: { !$0.isEmpty })?.split(separator: ".").first, name != "C", name != "POSIX"
        else {
            return nil
        }
        return String(name).replacing("_", with: "-")
    }

    private static func kernelVersion() -> VersionNumber? {
        var system = utsname()
        guard uname(&system) == 0 else { return nil }
        let release = withUnsafeBytes(of: system.release) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return VersionNumber(String(release.prefix { $0.isNumber || $0 == "." }))
    }

    /// A property of the machine from the firmware.
    private static func machineText(_ name: String) -> String? {
        guard let bytes = try? FileAccess.read("/sys/class/dmi/id/" + name) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return text.isEmpty || text.utf8.count > 200 ? nil : text
    }

    /// The class by the kind of chassis that the firmware states (SMBIOS, system enclosure types).
    private static func deviceClass() -> DeviceClass {
        switch machineText("chassis_type").flatMap({ Int($0) }) {
        case 30: .tablet
        case 11: .phone
        case 17, 23, 25, 28, 29: .server
        default: .desktop
        }
    }

    private static func freeBytes(_ folder: String) -> Int? {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        let (bytes, overflows) = Int(status.f_bavail).multipliedReportingOverflow(by: Int(status.f_frsize))
        return overflows ? nil : bytes
    }
}
