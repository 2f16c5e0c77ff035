// swift-tools-version: 6.2
// The package as data: one row a target. `scripts/check-layers` reads the levels in Documentation/Architecture.md.

import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let crypto = ["Crypto", "CryptoExtras"].map { Target.Dependency.product(name: $0, package: "swift-crypto") }
let protobuf = Target.Dependency.product(name: "SwiftProtobuf", package: "swift-protobuf")

/// A library of this package that clients do not import by name.
func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// A program that shows how an app uses the package, with an app's settings.
func example(_ name: String, path: String) -> Target {
    .executableTarget(
        name: name,
        dependencies: [
            "Combine", "CoreML", "CoreMLExtras", "CreateML", "ExampleSupport", "NaturalLanguage", "TabularData",
        ],
        path: path,
        swiftSettings: [.swiftLanguageMode(.v6)]
    )
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

let package = Package(
    name: "swift-coreml",
    products: [
        .library(name: "CoreML", targets: ["CoreML"]),
        .library(name: "CoreMLEncryption", targets: ["CoreMLEncryption"]),
        .library(name: "CoreMLDeployment", targets: ["CoreMLDeployment"]),
        .library(
            name: "DeploymentFormats",
            targets: ["DeploymentArchives", "DeploymentKeys", "DeploymentPolicy", "UpdateFramework"]
        ),
        .executable(name: "coreml", targets: ["CommandLineTool"]),
        .executable(name: "coremlc", targets: ["coremlc"]),
        .library(name: "ImageIO", targets: ["ImageIO"]),
        .library(name: "CoreGraphics", targets: ["CoreGraphics"]),
        .library(name: "CoreVideo", targets: ["CoreVideo"]),
        .library(name: "Vision", targets: ["Vision"]),
        .library(name: "CoreMLExtras", targets: ["CoreMLExtras"]),
        .library(name: "BackgroundTasks", targets: ["BackgroundTasks"]),
        .library(name: "TabularData", targets: ["TabularData"]),
        .library(name: "CreateML", targets: ["CreateML"]),
        .library(name: "NaturalLanguage", targets: ["NaturalLanguage"]),
        .library(name: "Combine", targets: ["Combine"]),
        .library(name: "CoreMLPython", type: .dynamic, targets: ["CoreMLPython"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        .target(name: "CMappedFiles"),
        library("MLNumerics", ["CMappedFiles"]),
        .target(name: "CMLKernels", linkerSettings: [.linkedLibrary("m")]),
        .target(name: "COneDNN", linkerSettings: [.linkedLibrary("dl")]),
        library("MLKernels", ["CMLKernels", "COneDNN"]),
        .executableTarget(name: "kernelbench", dependencies: ["MLKernels"], swiftSettings: settings),
        library("MLGraph", ["MLNumerics"]),
        library("MLOperators", ["MLKernels", "MLGraph", "MLNumerics", "MLSpecification"]),
        library("MLSpecification", [protobuf]),
        library("MLRuntime", ["MLGraph", "MLKernels", "MLNumerics"]),
        library("MLLowering", ["MLOperators", "MLFiles", "MLGraph", "MLSpecification", "MLNumerics"]),
        library("MLPasses", ["MLOperators", "MLGraph", "MLNumerics"]),
        tests("MLModelsTests", ["MLFeatures", "MLModels", "MLNumerics", "MLSpecification", protobuf]),
        library("MLFeatures", ["MLNumerics", "MLSpecification"]),
        library("MLFeatureFiles", ["CDeflate", "MLFeatures", "MLFiles", "MLNumerics", "MLSpecification"]),
        library(
            "MLInspection",
            [
                "MLEngine", "MLFeatureFiles", "MLFeatures", "MLFiles", "MLGraph", "MLLowering", "MLNumerics",
                "MLOperators", "MLSpecification", "MLTraining", protobuf,
            ]
        ),
        tests(
            "MLInspectionTests",
            [
                "MLInspection", "MLEngine", "MLFeatureFiles", "MLFeatures", "MLFiles", "MLNumerics", "MLSpecification",
                "TestSupport", protobuf,
            ]
        ),
        library(
            "MLTestVectors",
            [
                "ImageIO", "MLFeatureFiles", "MLFeatures", "MLFiles", "MLImages", "MLNumerics", "MLSpecification",
            ]
        ),
        tests(
            "MLTestVectorsTests",
            [
                "MLTestVectors", "MLFeatureFiles", "MLFeatures", "MLFiles", "MLNumerics", "MLSpecification",
                "TestSupport", protobuf,
            ]
        ),
        library("MLModels", ["CTextSegmentation", "MLFeatures", "MLKernels", "MLNumerics", "MLSpecification"]),
        library(
            "MLEngine",
            [
                "MLFeatures", "MLKernels", "MLLowering", "MLModels", "MLOperators", "MLPasses", "MLRuntime", "MLFiles",
                "MLGraph",
                "MLSpecification", "MLNumerics",
            ]
        ),
        library(
            "MLTraining",
            [
                "MLEngine", "MLFeatures", "MLFiles", "MLGraph", "MLKernels", "MLLowering", "MLModels", "MLNumerics",
                "MLOperators", "MLPasses", "MLRuntime", "MLSpecification",
            ]
        ),
        tests(
            "MLTrainingTests",
            [
                "MLTraining", "MLEngine", "MLFeatures", "MLFiles", "MLGraph", "MLKernels", "MLLowering", "MLNumerics",
                "MLOperators",
                "MLPasses",
                "MLRuntime", "MLSpecification", "TestSupport", protobuf,
            ]
        ),
        library("MLTreeTraining", ["MLKernels", "MLNumerics", "MLSpecification"]),
        tests(
            "MLTreeTrainingTests",
            ["MLTreeTraining", "MLModels", "MLFeatures", "MLKernels", "MLNumerics", "MLSpecification"]
        ),
        .executableTarget(
            name: "TreeTrainingRunner",
            dependencies: ["MLTreeTraining", "MLKernels", "MLNumerics"],
            path: "Tests/TreeTrainingRunner",
            swiftSettings: settings
        ),
        library("MLLinearTraining", ["MLKernels", "MLNumerics", "MLSpecification"]),
        tests(
            "MLLinearTrainingTests",
            ["MLLinearTraining", "MLModels", "MLFeatures", "MLKernels", "MLNumerics", "MLSpecification"]
        ),
        .executableTarget(
            name: "LinearTrainingRunner",
            dependencies: ["MLLinearTraining", "MLKernels", "MLNumerics"],
            path: "Tests/LinearTrainingRunner",
            swiftSettings: settings
        ),
        .target(name: "CTextSegmentation", linkerSettings: [.linkedLibrary("icuuc")]),
        library(
            "MLTextTraining",
            ["CTextSegmentation", "MLFeatures", "MLKernels", "MLModels", "MLNumerics", "MLSpecification"]
        ),
        tests(
            "MLTextTrainingTests",
            ["MLTextTraining", "MLFeatures", "MLModels", "MLKernels", "MLNumerics", "MLSpecification"]
        ),
        .executableTarget(
            name: "TextTrainingRunner",
            dependencies: ["MLTextTraining", "MLFeatures", "MLModels", "MLKernels", "MLNumerics"],
            path: "Tests/TextTrainingRunner",
            swiftSettings: settings
        ),
        .target(name: "CLanguageModel"),
        library(
            "NaturalLanguage",
            ["CLanguageModel", "CoreML", "MLFeatures", "MLFiles", "MLModels", "MLSpecification", "MLTextTraining"]
        ),
        .executableTarget(
            name: "LanguageRunner",
            dependencies: ["NaturalLanguage"],
            path: "Tests/LanguageRunner",
            swiftSettings: settings
        ),
        tests("NaturalLanguageTests", ["NaturalLanguage", "CoreML", "MLFiles", "MLModels", "MLTextTraining"]),
        .target(name: "CSoundFile", dependencies: ["CSharedLibrary"]),
        library("MLAudio", ["CSoundFile"]),
        library(
            "MLSeriesTraining",
            [
                "MLAudio", "MLEngine", "MLFeatures", "MLGraph", "MLKernels", "MLModels", "MLNumerics", "MLOperators",
                "MLSpecification", "MLTraining",
            ]
        ),
        tests(
            "MLSeriesTrainingTests",
            [
                "MLSeriesTraining", "MLAudio", "MLEngine", "MLFeatures", "MLFiles", "MLKernels", "MLNumerics",
                "MLSpecification",
            ]
        ),
        .executableTarget(
            name: "SeriesTrainingRunner",
            dependencies: ["MLSeriesTraining", "MLKernels", "MLNumerics"],
            path: "Tests/SeriesTrainingRunner",
            swiftSettings: settings
        ),
        library(
            "Combine",
            [
                .product(name: "OpenCombine", package: "OpenCombine"),
                .product(name: "OpenCombineDispatch", package: "OpenCombine"),
                .product(name: "OpenCombineFoundation", package: "OpenCombine"),
            ]
        ),
        library(
            "CreateML",
            [
                "Combine", "CoreML", "MLAudio", "MLFeatures", "MLFiles", "MLKernels", "MLLinearTraining", "MLModels",
                "MLNumerics", "MLSeriesTraining", "MLSpecification", "MLTextTraining", "MLTraining", "MLTreeTraining",
                "NaturalLanguage", "TabularData",
            ]
        ),
        tests(
            "CreateMLTests",
            [
                "CreateML", "Combine", "CoreML", "NaturalLanguage", "TabularData", "MLFiles", "MLKernels",
                "MLSpecification",
            ]
        ),
        .target(name: "CPreviewPage", exclude: ["page"]),
        library("MLPreview", ["CPreviewPage", "MLFeatures", "MLFiles", "MLNumerics", "MLSpecification"]),
        tests("MLPreviewTests", ["MLPreview", "MLFeatures", "MLFiles", "MLNumerics", "MLSpecification"]),
        .target(name: "CDeflate", linkerSettings: [.linkedLibrary("z")]),
        .executableTarget(
            name: "CommandLineTool",
            dependencies: [
                "CompilerCommands", "DeployCommands", "EncryptedCommands",
                "MLEngine", "MLModels", "MLRuntime", "MLCompiler", "MLFiles", "MLKernels", "MLSpecification",
                "MLFeatureFiles", "MLInspection", "MLNumerics", "MLTestVectors", "MLTraining",
                "Combine", "CoreML", "CoreMLEncryption", "CoreMLExtras", "CreateML",
                "MLArchive", "MLDelta", "MLEncryption", "MLPackaging",
                "ImageIO", "TabularData",
                "MLDrawing", "MLFeatures", "MLImages", "MLPreview", "CDeflate",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        tests(
            "CommandLineTests",
            [
                "CommandLineTool", "coremlc", "MLFiles", "MLPreview", "MLSpecification", "TabularData", "TestSupport",
                protobuf,
            ]
        ),
        tests("MLPassesTests", ["MLPasses", "MLOperators", "MLRuntime", "MLGraph", "MLNumerics"]),
        tests("MLGraphTests", ["MLGraph", "MLNumerics"]),
        tests(
            "MLEngineTests",
            [
                "MLEngine", "MLFeatures", "MLFiles", "MLModels", "MLNumerics", "MLRuntime", "MLSpecification", protobuf,
            ]
        ),
        tests("MLRuntimeTests", ["MLRuntime", "MLGraph", "MLNumerics"]),
        library("MLImages"),
        .target(
            name: "CImageCodecs",
            dependencies: ["CSharedLibrary"],
            linkerSettings: ["jpeg", "png", "webp", "gif"].map { .linkedLibrary($0) }
        ),
        .target(name: "CSharedLibrary", linkerSettings: [.linkedLibrary("dl")]),
        .target(name: "CDrawing", dependencies: ["CSharedLibrary"], linkerSettings: [.linkedLibrary("m")]),
        library("MLDrawing", ["CDrawing", "MLNumerics"]),
        tests("MLDrawingTests", ["MLDrawing", "MLNumerics"]),
        library("_Testing_CoreGraphics"),
        library("CoreGraphics", ["MLImages", "_Testing_CoreGraphics"]),
        library("CoreVideo", ["CoreGraphics", "MLImages"]),
        library("ImageIO", ["CoreGraphics", "CImageCodecs", "MLImages", "MLNumerics"]),
        .target(name: "CModelCollections"),
        library(
            "DeploymentClient",
            [
                "DeploymentKeys", "DeploymentPolicy", "MLArchive", "MLDelta", "MLEncryption", "MLFiles",
                "MLNumerics", "UpdateFramework",
            ] + crypto
        ),
        library(
            "DeployCommands",
            [
                "DeploymentClient", "DeploymentPolicy", "MLDelta", "MLEncryption", "MLFiles", "MLNumerics",
                "MLPackaging", "UpdateFramework",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ] + crypto
        ),
        .target(
            name: "DeploymentSupport",
            dependencies: [
                "DeploymentClient", "DeploymentPolicy", "MLArchive", "MLDelta", "MLEncryption", "UpdateFramework",
            ] + crypto,
            path: "Tests/DeploymentSupport",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "DeploymentRunner",
            dependencies: ["DeploymentClient", "DeploymentPolicy", "DeploymentSupport", "UpdateFramework"],
            path: "Tests/DeploymentRunner",
            swiftSettings: settings
        ),
        tests(
            "DeploymentClientTests",
            [
                "DeploymentClient", "DeploymentPolicy", "DeploymentSupport", "MLEncryption", "MLNumerics",
                "UpdateFramework",
            ]
        ),
        .target(name: "CCollectionRegistration", dependencies: ["CModelCollections", "CVaultRegistration"]),
        library(
            "CoreMLDeployment",
            [
                "BackgroundTasks", "CCollectionRegistration", "CoreML", "CoreMLEncryption", "DeploymentClient",
                "DeploymentKeys", "DeploymentPolicy", "MLEngine",
                "MLFiles", "MLNumerics", "MLTestVectors",
            ]
        ),
        .executableTarget(
            name: "DeliveryRunner",
            dependencies: ["CoreML", "CoreMLDeployment", "CoreMLEncryption"],
            path: "Tests/DeliveryRunner",
            swiftSettings: settings
        ),
        tests(
            "CoreMLDeploymentTests",
            [
                "BackgroundTasks", "CoreMLDeployment", "DeliveryRunner", "DeploymentClient", "DeploymentSupport",
                "MLEncryption",
                "MLFeatures", "MLFiles", "MLNumerics", "MLPackaging", "MLSpecification", "MLTestVectors",
                "UpdateFramework", protobuf,
            ]
        ),
        .executableTarget(
            name: "CollectionApp",
            dependencies: ["CoreML", "CoreMLDeployment"],
            path: "Tests/CollectionApp",
            swiftSettings: [.swiftLanguageMode(.v6)]
        ),
        library("DeploymentArchives", ["MLArchive", "MLDelta", "MLEncryption", "MLFiles", "MLNumerics"]),
        library(
            "CoreML",
            [
                "CModelCollections", "CoreGraphics", "CoreVideo", "ImageIO", "MLCompiler", "MLEngine", "MLFiles",
                "MLImages", "MLNumerics",
                "MLOperators", "MLSpecification", "MLTraining",
            ]
        ),
        .target(name: "CSecrets", dependencies: ["CMLKernels"]),
        library("MLEncryption", ["CModelVault", "CSecrets", "MLFiles", "MLNumerics"] + crypto),
        tests(
            "MLEncryptionTests",
            ["MLArchive", "MLEncryption", "MLPackaging", "MLCompiler", "MLFiles", "MLNumerics", "MLSpecification"]
                + crypto
        ),
        .executableTarget(
            name: "ClearApp",
            dependencies: ["CoreML"],
            path: "Tests/ClearApp",
            swiftSettings: [.swiftLanguageMode(.v6)]
        ),
        tests(
            "CoreMLEncryptionTests",
            ["CoreMLEncryption", "CoreML", "MLEncryption", "MLFiles", "MLNumerics", "MLPackaging", "TestSupport"]
        ),
        .executableTarget(
            name: "EncryptionRunner",
            dependencies: ["MLArchive", "MLEncryption", "MLFiles", "MLNumerics", "MLSpecification"] + crypto,
            path: "Tests/EncryptionRunner",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "EncryptedApp",
            dependencies: ["CoreML", "CoreMLEncryption"],
            path: "Tests/EncryptedApp",
            swiftSettings: [.swiftLanguageMode(.v6)]
        ),
        library("DeploymentKeys", ["MLEncryption", "MLFiles", "MLNumerics"] + crypto),
        tests(
            "DeploymentKeysTests",
            [
                "CoreML", "CoreMLEncryption", "DeploymentKeys", "MLEncryption", "MLFiles", "MLNumerics", "MLPackaging",
                "TestSupport",
            ] + crypto
        ),
        .executableTarget(
            name: "KeyServiceRunner",
            dependencies: ["DeploymentKeys", "MLEncryption", "MLFiles"],
            path: "Tests/KeyServiceRunner",
            swiftSettings: settings
        ),
        library("MLArchive", ["MLEncryption", "MLFiles", "MLNumerics"] + crypto),
        .target(name: "CZstandard", linkerSettings: [.linkedLibrary("zstd")]),
        library("MLDelta", ["CZstandard", "MLArchive", "MLEncryption", "MLFiles", "MLNumerics"] + crypto),
        tests(
            "MLDeltaTests",
            ["MLDelta", "MLArchive", "MLEncryption", "MLFiles", "MLNumerics"] + crypto
        ),
        library(
            "MLPackaging",
            ["MLArchive", "MLCompiler", "MLDelta", "MLEncryption", "MLFiles", "MLNumerics"] + crypto
        ),
        library("DeploymentPolicy", ["MLEncryption", "MLFiles"] + crypto),
        tests(
            "DeploymentPolicyTests",
            ["DeploymentPolicy", "MLEncryption", "MLFiles", "MLNumerics", "RolloutSimulation"]
        ),
        .target(
            name: "RolloutSimulation",
            dependencies: ["DeploymentPolicy"],
            path: "Tests/RolloutSimulation",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "RolloutRunner",
            dependencies: ["DeploymentPolicy", "RolloutSimulation"],
            path: "Tests/RolloutRunner",
            swiftSettings: settings
        ),
        .target(name: "CVaultRegistration", dependencies: ["CModelVault"]),
        library(
            "CoreMLEncryption",
            ["CVaultRegistration", "CoreML", "MLArchive", "MLEncryption", "MLFiles", "MLNumerics"]
        ),
        library("UpdateFramework", crypto),
        tests("UpdateFrameworkTests", ["UpdateFramework"] + crypto),
        .executableTarget(
            name: "UpdateFrameworkRunner",
            dependencies: ["UpdateFramework"],
            path: "Tests/UpdateFrameworkRunner",
            swiftSettings: settings
        ),
        library("BackgroundTasks"),
        tests("BackgroundTasksTests", ["BackgroundTasks", "TestSupport"]),
        library("Vision", ["CoreML", "CoreGraphics", "CoreVideo", "ImageIO", "MLImages"]),
        library(
            "CoreMLExtras",
            [
                "BackgroundTasks", "CoreML", "MLEngine", "MLFiles", "MLLowering", "MLNumerics", "MLSpecification",
                protobuf,
            ]
        ),
        tests(
            "CoreMLExtrasTests",
            [
                "BackgroundTasks", "CoreMLExtras", "CoreML", "MLFiles", "MLNumerics", "MLSpecification", "TestSupport",
                protobuf,
            ]
        ),
        tests("CoreMLTests", ["CoreML", "MLFiles", "MLSpecification", "TestSupport", protobuf]),
        tests("VisionTests", ["Vision", "CoreML", "MLImages"]),
        .target(
            name: "SourceCompatibility",
            dependencies: ["CoreML", "CoreGraphics", "CoreVideo", "CreateML", "ImageIO", "TabularData", "Vision"],
            path: "Tests/SourceCompatibility",
            swiftSettings: [.swiftLanguageMode(.v6)]
        ),
        .executableTarget(
            name: "ReadMeSnippets",
            dependencies: ["CoreML", "CoreMLEncryption", "CoreMLExtras", "CreateML", "TabularData"],
            path: "Tests/ReadMeSnippets",
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        ),
        .target(
            name: "ExampleSupport",
            dependencies: ["CoreML"],
            path: "Examples/Support",
            swiftSettings: [.swiftLanguageMode(.v6)]
        ),
        .executableTarget(
            name: "demo-flower-shop",
            dependencies: ["CoreML", "CoreMLDeployment"],
            path: "Examples/FlowerShop",
            swiftSettings: [.swiftLanguageMode(.v6)]
        ),
        example("demo-stickers", path: "Examples/Stickers"),
        example("demo-adapt", path: "Examples/Adapt"),
        example("demo-extractor", path: "Examples/SharedExtractor"),
        example("demo-orders", path: "Examples/Orders"),
        example("demo-houses", path: "Examples/Houses"),
        example("demo-topics", path: "Examples/Topics"),
        example("demo-digits", path: "Examples/Digits"),
        library("CoreMLPython", ["CoreML", "CoreVideo", "MLFiles"]),
        tests(
            "ImageIOTests",
            ["ImageIO", "CoreVideo", "CoreGraphics", "MLImages", "MLNumerics"],
            exclude: ["Fixtures"]
        ),
        tests("MLKernelsTests", ["MLKernels"]),
        tests("MLNumericsTests", ["MLNumerics"]),
        .target(
            name: "TestSupport",
            dependencies: ["BackgroundTasks", "MLGraph", "MLNumerics", "MLOperators", "MLRuntime", "MLSpecification"],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FixtureRunner",
            dependencies: [
                "MLEngine", "MLFiles", "MLGraph", "MLLowering", "MLNumerics", "MLOperators", "MLSpecification",
                "TestSupport",
            ],
            path: "Tests/FixtureRunner",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "TrainingRunner",
            dependencies: ["MLTraining", "MLFeatures", "MLFiles", "MLKernels", "MLNumerics"],
            path: "Tests/TrainingRunner",
            swiftSettings: settings
        ),
        tests(
            "MLLoweringTests",
            [
                "MLCompiler", "MLEngine", "MLFeatures", "MLFiles", "MLLowering", "MLGraph", "MLNumerics", "MLOperators",
                "MLSpecification", "TestSupport", protobuf,
            ]
        ),
        tests("OperatorCensusTests", ["MLGraph", "MLOperators", "TestSupport"]),
        tests("TestSupportTests", ["TestSupport", "MLGraph", "MLNumerics"]),
        tests("MLOperatorsTests", ["MLOperators", "MLRuntime", "MLGraph", "MLNumerics", "TestSupport"]),
        .target(name: "CNumberText"),
        .target(name: "CTabular", dependencies: ["CNumberText"]),
        .target(name: "CLZ4", linkerSettings: [.linkedLibrary("lz4")]),
        library("TabularData", ["CLZ4", "CNumberText", "CTabular"]),
        tests("TabularDataTests", ["TabularData", "TestSupport"]),
        .executableTarget(name: "tabularbench", dependencies: ["TabularData"], swiftSettings: settings),
        .target(name: "CModelVault"),
        library("MLFiles", ["CModelVault", "CNumberText", "MLNumerics", "MLSpecification", protobuf]),
        tests(
            "MLCompilerTests",
            ["MLCompiler", "MLEngine", "MLFeatures", "MLFiles", "MLKernels", "MLNumerics", "MLSpecification", protobuf]
        ),
        library("MLCompiler", ["MLEngine", "MLFiles", "MLGeneration", "MLNumerics", "MLSpecification"]),
        library("MLGeneration", ["MLFiles", "MLNumerics", "MLSpecification"]),
        library(
            "CompilerCommands",
            [
                "MLCompiler", "MLFiles", "MLGeneration", "MLNumerics", "MLSpecification",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .executableTarget(
            name: "coremlc",
            dependencies: [
                "CompilerCommands", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FlowerGarden",
            dependencies: ["CoreML", "CoreMLExtras", "MLDrawing", "MLNumerics"],
            path: "Tests/FlowerGarden",
            swiftSettings: settings
        ),
        library("EncryptedCommands", ["CompilerCommands", "MLFiles", "MLNumerics", "MLPackaging"]),
        .executableTarget(
            name: "coremlc-encrypting",
            dependencies: [
                "CompilerCommands", "EncryptedCommands",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        tests("MLGenerationTests", ["MLGeneration", "MLFiles", "MLNumerics", "MLSpecification"]),
        tests(
            "GeneratedClassTests",
            [
                "CoreML", "GeneratedClassesInSwift5", "MLCompiler", "MLFiles", "MLGeneration", "MLNumerics",
                "MLSpecification", "TestSupport", protobuf,
            ]
        ),
        .target(
            name: "GeneratedClassesInSwift5",
            dependencies: ["CoreML"],
            path: "Tests/GeneratedClassesInSwift5",
            swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]
        ),
        tests("MLFilesTests", ["MLFiles", "MLNumerics", "MLSpecification", "TestSupport", protobuf]),
    ],
    cxxLanguageStandard: .cxx17
)

// Links clang's fuzzer, which builds without it lack: scripts/fuzz sets this.
if Context.environment["COREML_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "DeploymentFuzzer",
            dependencies: [
                "DeploymentKeys", "DeploymentPolicy", "MLArchive", "MLDelta", "MLEncryption", "MLFiles", "MLNumerics",
                "UpdateFramework",
            ] + crypto,
            path: "Tests/DeploymentFuzzer",
            swiftSettings: settings
        )
    )
}

// Wherever a package has plugins, building all of it builds their tools a second time, with everything below them, for
// the machine that builds.  Scripts that build this package for its tests leave the plugins out.
if Context.environment["COREML_WITHOUT_PLUGINS"] == nil {
    package.products.append(.plugin(name: "CoreMLPlugin", targets: ["CoreMLPlugin"]))
    package.products.append(.plugin(name: "CoreMLEncryptionPlugin", targets: ["CoreMLEncryptionPlugin"]))
    package.targets.append(.plugin(name: "CoreMLPlugin", capability: .buildTool(), dependencies: ["coremlc"]))
    package.targets.append(
        .plugin(name: "CoreMLEncryptionPlugin", capability: .buildTool(), dependencies: ["coremlc-encrypting"])
    )
}
