// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Flowers",
    dependencies: [
        .package(name: "swift-coreml", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "FlowerGuide",
            dependencies: [
                .product(name: "CoreML", package: "swift-coreml")
            ],
            plugins: [
                .plugin(name: "CoreMLPlugin", package: "swift-coreml")
            ]
        )
    ]
)
