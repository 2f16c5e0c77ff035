// swift-tools-version: 6.2
// The servers, of deployments and of predictions: a package of their own, so that a package that depends on Core ML neither
// fetches nor builds a server.

import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let coreML = ["CoreML", "CoreMLExtras", "ImageIO"].map { Target.Dependency.product(name: $0, package: "swift-coreml") }
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let formats = Target.Dependency.product(name: "DeploymentFormats", package: "swift-coreml")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let jwt = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let http1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let posix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let protobuf = Target.Dependency.product(name: "SwiftProtobuf", package: "swift-protobuf")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let tls = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

let package = Package(
    name: "coreml-server",
    products: [
        .executable(name: "coreml-server", targets: ["coreml-server"]),
        .executable(name: "coreml-serve", targets: ["coreml-serve"]),
    ],
    dependencies: [
        .package(name: "swift-coreml", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
        .package(url: "https://github.com/grpc/grpc-swift-protobuf", from: "2.4.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: ["FullFoundation"]),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        .target(name: "CPQ", linkerSettings: [.linkedLibrary("pq")]),
        library("ServerDatabase", ["CPQ", .product(name: "GRDB", package: "GRDB.swift")]),
        library("ServerBlobs", [crypto]),
        library(
            "ServerSupport",
            [
                logging, nio,
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
            ]
        ),
        // Messages of the Open Inference Protocol: generated from proto/serving.
        library("InferenceProtocol", [protobuf]),
        // Knows nothing of the deployment server.
        library(
            "ModelServing",
            [
                "InferenceProtocol", "ServerSupport", hummingbird, lifecycle, logging, nio, protobuf,
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "GRPCCore", package: "grpc-swift-2"),
                .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
                .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
            ] + coreML
        ),
        library(
            "ServerCore",
            [
                "ServerBlobs", "ServerDatabase", crypto, formats, jwt,
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ]
        ),
        .target(name: "COpenAPIFile"),
        .target(name: "CDashboardFiles", exclude: ["files", "pages"]),
        library(
            "ServerDashboard",
            [
                "CDashboardFiles", "ServerBlobs", "ServerCore", "ServerDatabase", formats, hummingbird,
                .product(name: "Mustache", package: "swift-mustache"),
            ]
        ),
        library(
            "ServerHTTP",
            [
                "COpenAPIFile", "ServerBlobs", "ServerCore", "ServerDatabase", "ServerSupport", formats, hummingbird,
                lifecycle, logging, http1, nio, signals, tls,
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdHTTP2", package: "hummingbird"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
            ]
        ),
        .executableTarget(
            name: "coreml-server",
            dependencies: [
                "ServerBlobs", "ServerCore", "ServerDashboard", "ServerDatabase", "ServerHTTP", "ServerSupport",
                formats,
                hummingbird, crypto, logging,
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "coreml-serve",
            dependencies: [
                "ModelServing", "ServerSupport", hummingbird, lifecycle, logging, signals,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "TestDatabases",
            dependencies: ["ServerDatabase"],
            path: "Tests/TestDatabases",
            swiftSettings: settings
        ),
        // `Reliability/fleet-simulation`
        .executableTarget(
            name: "FleetSimulation",
            dependencies: [
                "ServerBlobs", "ServerCore", "ServerDatabase", "ServerHTTP", "ServerTesting", formats, hummingbird,
                lifecycle, logging, nio,
            ],
            path: "Tests/FleetSimulation",
            swiftSettings: settings
        ),
        // `Reliability/fleet-simulation --wire`
        .executableTarget(
            name: "FleetWire",
            dependencies: [formats, .product(name: "ArgumentParser", package: "swift-argument-parser")],
            path: "Tests/FleetWire",
            swiftSettings: settings
        ),
        tests("ServerDatabaseTests", ["ServerDatabase", "TestDatabases"]),
        .target(
            name: "ServerTesting",
            dependencies: [lifecycle, logging, nio],
            path: "Tests/ServerTesting",
            swiftSettings: settings
        ),
        tests(
            "ServerHTTPTests",
            [
                "ServerTesting",
                "ServerBlobs", "ServerCore", "ServerDatabase", "ServerHTTP", "ServerSupport", crypto, formats,
                hummingbird, jwt,
                http1, lifecycle, logging, nio, posix, tls,
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Yams", package: "Yams"),
            ]
        ),
        .testTarget(
            name: "ServerCoreTests",
            dependencies: ["ServerBlobs", "ServerCore", "ServerDatabase", "ServerTesting", "TestDatabases", formats],
            exclude: ["version-1.sql"],
            swiftSettings: settings
        ),
        tests("ServerBlobsTests", ["ServerBlobs", crypto]),
        tests(
            "ModelServingTests",
            [
                "InferenceProtocol", "ModelServing", "ServerSupport", hummingbird, lifecycle, logging, nio, protobuf,
                .product(name: "GRPCCore", package: "grpc-swift-2"),
                .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
                .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
            ] + coreML
        ),
        // The side of `scripts/checks/s3-tests` that is compared with botocore.
        .executableTarget(
            name: "SignatureRunner",
            dependencies: ["ServerBlobs"],
            path: "Tests/SignatureRunner",
            swiftSettings: settings
        ),
        tests(
            "ServerDashboardTests",
            [
                "ServerBlobs", "ServerCore", "ServerDashboard", "ServerDatabase", "ServerHTTP", formats, hummingbird,
                .product(name: "HummingbirdTesting", package: "hummingbird"),
            ]
        ),
    ]
)

// Every target but tests, for `scripts/build --server`, and the products that tests need: they compile beside the long chain
// of the programs' modules.
let buildable = package.targets.filter { [.regular, .executable].contains($0.type) }
var testProducts: [String: Target.Dependency] = [:]
for dependency in package.targets.filter({ $0.type == .test }).flatMap(\.dependencies) {
    if case .productItem(let name, _, _, _) = dependency { testProducts[name] = dependency }
}
package.targets.append(
    .target(
        name: "AllServerTargets",
        dependencies: buildable.map { .target(name: $0.name) } + testProducts.sorted { $0.key < $1.key }.map(\.value),
        path: "Tests/AllTargets",
        swiftSettings: settings
    )
)
