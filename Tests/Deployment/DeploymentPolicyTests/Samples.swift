import DeploymentPolicy

/// Documents and devices that tests begin with.
enum Samples {
    static let hash = String(repeating: "ab", count: 32)

    static func reference(_ number: Int, counter: Int? = nil, minimumRuntime: String? = nil) -> ReleaseReference {
        ReleaseReference(
            number: number,
            counter: counter ?? number,
            target: ReleaseReference.target(app: "flowers", collection: "FlowerModels", number: number),
            sha256: hash,
            length: 1000,
            minimumRuntime: minimumRuntime.flatMap { VersionNumber($0) }
        )
    }

    static func policy(_ rules: [Rule] = [], fallback: Serving = .bundled) -> Policy {
        var policy = Policy(
            version: 7,
            issued: PolicyDate("2026-11-23T14:00:00Z")!,
            expires: PolicyDate("2026-11-30T14:00:00Z")!,
            app: "flowers",
            environment: "prod",
            collection: "FlowerModels",
            deployment: "autumn",
            fallback: fallback
        )
        policy.rules = rules
        policy.releases = [reference(1), reference(2), reference(3, minimumRuntime: "2.0")]
        return policy
    }

    static var tablet: DeviceAttributes {
        var device = DeviceAttributes()
        device.languageCode = "en-GB"
        device.deviceClass = .tablet
        device.operatingSystem = "iPadOS"
        device.osVersion = VersionNumber("17.4.1")
        device.regionCode = "GB"
        device.appVersion = VersionNumber("2.3")
        device.memory = 8 << 30
        device.runtimeVersion = VersionNumber("1.0")
        device.installID = "6c7d9e0a-4b1f-4a53-9c93-1d2e3f405162"
        return device
    }

    static var release: ReleaseDocument {
        var flowers = ReleaseDocument.Model("FlowerClassifier", archive: .init(sha256: hash, length: 25_000_000))
        flowers.version = "3.1"
        flowers.encryption = .init(keyID: String(repeating: "0f", count: 16), team: "garden")
        flowers.selfTest = .init(vectors: .init(sha256: hash, length: 4000), tolerance: 0.001)
        flowers.deltas = [.init(from: String(repeating: "cd", count: 32), .init(sha256: hash, length: 90_000))]
        let effects = ReleaseDocument.Model("Effects", archive: .init(sha256: hash, length: 5_000_000))
        var release = ReleaseDocument(
            app: "flowers",
            collection: "FlowerModels",
            number: 2,
            counter: 2,
            created: PolicyDate("2026-11-23T13:00:00Z")!,
            models: [flowers, effects]
        )
        release.notes = "Retrained.\nTulips."
        release.metrics = [.init("accuracy", 0.915, model: "FlowerClassifier"), .init("examples", 120_000)]
        release.annotations = ["commit": "40bbbe2"]
        return release
    }
}
