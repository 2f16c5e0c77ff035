// swift-tools-version: 6.2
// The package as data: folders of targets, a row a target; the folders of Sources are the layers. A target depends on rows
// above its own only, so the order of the rows is the architecture; `scripts/check-layers` compares it with the imports and
// Documentation/Architecture.md.

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
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let openCombine = ["OpenCombine", "OpenCombineDispatch", "OpenCombineFoundation"].map {
    Target.Dependency.product(name: $0, package: "OpenCombine")
}

/// The targets in the subfolders of `path`.
func folder(_ path: String, _ targets: [Target]) -> [Target] {
    for target in targets { target.path = "\(path)/\(target.name)" }
    return targets
}

/// A target in C or C++, with the system's libraries that it links.
func c(
    _ name: String,
    _ dependencies: [Target.Dependency] = [],
    links: [String] = [],
    exclude: [String] = []
) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        exclude: exclude,
        linkerSettings: links.map { .linkedLibrary($0) }
    )
}

/// A library in Swift.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// An executable in Swift.
func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

/// An executable with the settings of an app that uses the package.
func app(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name,
        dependencies: dependencies,
        swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
    )
}

/// Sources with the settings of an app, which need only compile.
func client(_ name: String, _ dependencies: [Target.Dependency], version: SwiftLanguageMode = .v6) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        swiftSettings: [.swiftLanguageMode(version), .treatAllWarnings(as: .error)]
    )
}

/// A program that shows how an app uses the package.
func example(_ name: String, _ folder: String) -> Target {
    .executableTarget(
        name: name,
        dependencies: [
            "Combine", "CoreML", "CoreMLExtras", "CreateML", "ExampleSupport", "NaturalLanguage", "TabularData",
        ],
        path: "Examples/\(folder)",
        swiftSettings: [.swiftLanguageMode(.v6)]
    )
}

let sources: [[Target]] = [
    // Shims over C libraries, and C of our own that knows nothing of models.
    folder(
        "Sources/Libraries",
        [
            c("CSharedLibrary", links: ["dl"]),
            c("CNumberText"),
            c("CMappedFiles"),
            c("CDeflate", links: ["z"]),
            c("CLZ4", links: ["lz4"]),
            c("CZstandard", links: ["zstd"]),
            c("CTextSegmentation", links: ["icuuc"]),
            c("CTabular", ["CNumberText"]),
            c("CLanguageModel"),
            c("CPreviewPage", exclude: ["page"]),
            c("CVersion"),
        ]
    ),
    // Numbers in memory, and the fast loops over them for each instruction set.
    folder(
        "Sources/Kernels",
        [
            module("MLNumerics", ["CMappedFiles"]),
            c("CMLKernels", links: ["m"]),
            c("CTraining"),
            c("COneDNN", links: ["dl"]),
            module("MLKernels", ["CMLKernels", "COneDNN"]),
        ]
    ),
    // Pictures, sound and drawings, with Apple's modules that Linux lacks of them.
    folder(
        "Sources/Media",
        [
            c("CImageCodecs", ["CSharedLibrary"], links: ["jpeg", "png", "webp", "gif"]),
            c("CSoundFile", ["CSharedLibrary"]),
            c("CDrawing", ["CSharedLibrary"], links: ["m"]),
            module("MLImages"),
            module("MLAudio", ["CSoundFile"]),
            module("CoreMedia"),
            module("AVFAudio"),
            module("MLDrawing", ["MLNumerics", "CDrawing"]),
            module("_Testing_CoreGraphics"),
            module("CoreGraphics", ["MLImages", "_Testing_CoreGraphics"]),
            module("CoreVideo", ["MLImages", "CoreGraphics"]),
            module("ImageIO", ["MLNumerics", "CImageCodecs", "MLImages", "CoreGraphics"]),
        ]
    ),
    // Model files: read, written, described; the values of features.
    folder(
        "Sources/Formats",
        [
            module("MLSpecification", [protobuf]),
            c("CModelVault"),
            module("MLFiles", ["CNumberText", "MLNumerics", "MLSpecification", "CModelVault", protobuf]),
            module("MLFeatures", ["MLNumerics", "MLSpecification"]),
            module("MLZipFiles", ["CDeflate", "MLNumerics"]),
            module("MLFeatureFiles", ["MLNumerics", "MLSpecification", "MLFiles", "MLFeatures", "MLZipFiles"]),
            module("MLGeneration", ["MLNumerics", "MLSpecification", "MLFiles"]),
        ]
    ),
    // From a model file to answers: graph, operators, passes, plans; classic models; compiled models.
    folder(
        "Sources/Engine",
        [
            module("MLGraph", ["MLNumerics"]),
            module("MLOperators", ["MLNumerics", "MLKernels", "MLSpecification", "MLGraph"]),
            module("MLRuntime", ["MLNumerics", "MLKernels", "MLGraph"]),
            module("MLLowering", ["MLNumerics", "MLSpecification", "MLFiles", "MLGraph", "MLOperators"]),
            module("MLPasses", ["MLNumerics", "MLGraph", "MLOperators"]),
            module("MLModels", ["CTextSegmentation", "MLNumerics", "MLKernels", "MLSpecification", "MLFeatures"]),
            module(
                "MLEngine",
                [
                    "MLNumerics", "MLKernels", "MLSpecification", "MLFiles", "MLFeatures", "MLGraph", "MLOperators",
                    "MLRuntime", "MLLowering", "MLPasses", "MLModels",
                ]
            ),
        ]
    ),
    // Gradients and optimizers; trees, linear models, texts and series.
    folder(
        "Sources/Training",
        [
            module("MLTrainingCore", ["MLNumerics", "MLFeatures"]),
            module(
                "MLGraphTraining",
                [
                    "CTraining", "MLNumerics", "MLKernels", "MLGraph", "MLOperators", "MLRuntime", "MLPasses",
                    "MLTrainingCore",
                ]
            ),
            module(
                "MLUpdating",
                [
                    "MLNumerics", "MLSpecification", "MLFiles", "MLFeatures", "MLGraph", "MLOperators", "MLRuntime",
                    "MLLowering", "MLModels", "MLEngine", "MLTrainingCore", "MLGraphTraining",
                ]
            ),
            module(
                "MLExtractors",
                [
                    "MLNumerics", "MLImages", "MLSpecification", "MLFiles", "MLFeatures", "MLZipFiles", "MLEngine",
                    "MLTrainingCore",
                ]
            ),
            module(
                "MLPoses",
                ["MLNumerics", "MLImages", "MLSpecification", "MLFiles", "MLFeatures", "MLEngine", "MLExtractors"]
            ),
            module("MLTreeTraining", ["MLNumerics", "MLKernels", "MLSpecification", "MLTrainingCore"]),
            module("MLLinearTraining", ["MLNumerics", "MLKernels", "MLSpecification", "MLTrainingCore"]),
            module(
                "MLTextTraining",
                [
                    "CTextSegmentation", "MLNumerics", "MLKernels", "MLSpecification", "MLFeatures", "MLModels",
                    "MLTrainingCore",
                ]
            ),
            module(
                "MLSeriesTraining",
                [
                    "CTraining", "MLNumerics", "MLKernels", "MLAudio", "MLSpecification", "MLFeatures", "MLGraph",
                    "MLOperators", "MLModels", "MLEngine", "MLTrainingCore", "MLGraphTraining",
                ]
            ),
            module(
                "MLImageTraining",
                [
                    "MLNumerics", "MLImages", "MLSpecification", "MLFiles", "MLFeatures", "MLGraph", "MLOperators",
                    "MLEngine", "MLTrainingCore", "MLGraphTraining", "MLExtractors",
                ]
            ),
            module(
                "MLDetectionTraining",
                [
                    "MLNumerics", "MLKernels", "MLImages", "MLSpecification", "MLFiles", "MLFeatures", "MLGraph",
                    "MLOperators", "MLEngine", "MLTrainingCore", "MLGraphTraining", "MLExtractors",
                ]
            ),
            module(
                "MLStyleTraining",
                [
                    "MLNumerics", "MLImages", "MLSpecification", "MLFiles", "MLGraph", "MLOperators", "MLLowering",
                    "MLPasses", "MLEngine", "MLTrainingCore", "MLGraphTraining",
                ]
            ),
        ]
    ),
    // Inspection of model files: comparison, validation, tests and previews.
    folder(
        "Sources/Inspection",
        [
            module(
                "MLInspection",
                [
                    "MLNumerics", "MLSpecification", "MLFiles", "MLFeatures", "MLFeatureFiles", "MLGraph",
                    "MLOperators", "MLLowering", "MLEngine", "MLUpdating", protobuf,
                ]
            ),
            module(
                "MLTestVectors",
                ["MLNumerics", "MLImages", "ImageIO", "MLSpecification", "MLFiles", "MLFeatures", "MLFeatureFiles"]
            ),
            module("MLPreview", ["CPreviewPage", "MLNumerics", "MLSpecification", "MLFiles", "MLFeatures"]),
        ]
    ),
    // Apple's frameworks as apps import them, and what Linux needs beside them.
    folder(
        "Sources/Public",
        [
            module("BackgroundTasks"),
            module("Combine", openCombine),
            module("TabularData", ["CNumberText", "CLZ4", "CTabular"]),
            c("CModelCollections"),
            module(
                "CoreML",
                [
                    "MLNumerics", "MLKernels", "MLImages", "CoreGraphics", "CoreVideo", "ImageIO", "MLSpecification",
                    "MLFiles", "MLOperators", "MLEngine", "MLUpdating", "CModelCollections",
                ]
            ),
            module(
                "CoreMLExtras",
                [
                    "MLNumerics", "MLSpecification", "MLFiles", "MLFeatures", "MLLowering", "MLEngine",
                    "BackgroundTasks",
                    "CoreML", protobuf,
                ]
            ),
            module("Vision", ["MLNumerics", "MLImages", "CoreGraphics", "CoreVideo", "ImageIO", "MLPoses", "CoreML"]),
            module(
                "NaturalLanguage",
                [
                    "CLanguageModel", "MLNumerics", "MLSpecification", "MLFiles", "MLFeatures", "MLModels",
                    "MLTextTraining", "CoreML",
                ]
            ),
            module("SoundAnalysis", ["MLAudio", "CoreMedia", "AVFAudio", "CoreML"]),
            module("QuestionAnswering", ["MLNumerics", "MLFiles", "MLExtractors", "CoreML", "NaturalLanguage"]),
            module(
                "CreateML",
                [
                    "MLNumerics", "MLKernels", "MLImages", "MLAudio", "CoreGraphics", "CoreVideo", "ImageIO",
                    "MLSpecification", "MLFiles", "MLFeatures", "MLModels", "MLTrainingCore",
                    "MLExtractors", "MLPoses", "MLTreeTraining", "MLLinearTraining", "MLTextTraining",
                    "MLSeriesTraining", "MLImageTraining", "MLDetectionTraining", "MLStyleTraining", "Combine",
                    "TabularData", "CoreML", "Vision", "NaturalLanguage",
                ]
            ),
        ]
    ),
    // Encrypted models, keys and archives.
    folder(
        "Sources/Encryption",
        [
            c("CSecrets", ["CMLKernels"]),
            module("MLEncryption", ["MLNumerics", "CModelVault", "MLFiles", "CSecrets"] + crypto),
            module("MLArchive", ["MLNumerics", "MLFiles", "MLEncryption"] + crypto),
            module("MLDelta", ["CZstandard", "MLNumerics", "MLFiles", "MLEncryption", "MLArchive"] + crypto),
            module(
                "MLPackaging",
                ["MLNumerics", "MLFiles", "MLEngine", "MLEncryption", "MLArchive", "MLDelta"] + crypto
            ),
            c("CVaultRegistration", ["CModelVault"]),
            module(
                "CoreMLEncryption",
                ["MLNumerics", "MLFiles", "CoreML", "MLEncryption", "MLArchive", "CVaultRegistration"]
            ),
        ]
    ),
    // Delivering models: signed metadata, policies, keys, the client of a device.
    folder(
        "Sources/Deployment",
        [
            module("UpdateFramework", crypto),
            module("DeploymentPolicy", ["MLFiles", "MLEncryption"] + crypto),
            module("DeploymentKeys", ["MLNumerics", "MLFiles", "MLEncryption"] + crypto),
            module("DeploymentArchives", ["MLNumerics", "MLFiles", "MLEncryption", "MLArchive", "MLDelta"]),
            module(
                "DeploymentClient",
                [
                    "MLNumerics", "MLFiles", "MLEncryption", "MLArchive", "MLDelta", "UpdateFramework",
                    "DeploymentPolicy", "DeploymentKeys",
                ] + crypto
            ),
            c("CCollectionRegistration", ["CModelCollections", "CVaultRegistration"]),
            module(
                "CoreMLDeployment",
                [
                    "MLNumerics", "MLFiles", "MLEngine", "MLTestVectors", "BackgroundTasks", "CoreML",
                    "CoreMLEncryption", "DeploymentPolicy", "DeploymentKeys", "DeploymentClient",
                    "CCollectionRegistration",
                ]
            ),
        ]
    ),
    // Command lines, the library of the Python package, programs that measure.
    folder(
        "Sources/Programs",
        [
            module(
                "CompilerCommands",
                ["MLNumerics", "MLSpecification", "MLFiles", "MLGeneration", "MLEngine", arguments]
            ),
            module("EncryptedCommands", ["MLNumerics", "MLFiles", "MLPackaging", "CompilerCommands"]),
            module(
                "DeployCommands",
                [
                    "MLNumerics", "MLFiles", "MLEncryption", "MLDelta", "MLPackaging", "UpdateFramework",
                    "DeploymentPolicy", "DeploymentClient", arguments,
                ] + crypto
            ),
            program(
                "CommandLineTool",
                [
                    "CVersion", "MLNumerics", "MLKernels", "MLImages", "MLDrawing", "ImageIO",
                    "MLSpecification", "MLFiles", "MLFeatures", "MLZipFiles", "MLFeatureFiles", "MLRuntime", "MLModels",
                    "MLEngine",
                    "MLUpdating", "MLExtractors", "MLDetectionTraining", "MLInspection", "MLTestVectors", "MLPreview",
                    "Combine", "TabularData", "CoreML", "CoreMLExtras", "QuestionAnswering", "CreateML", "MLEncryption",
                    "MLArchive", "MLDelta", "MLPackaging", "CoreMLEncryption", "CompilerCommands", "EncryptedCommands",
                    "DeployCommands",
                    arguments,
                ] + crypto
            ),
            program("coremlc", ["CompilerCommands", arguments]),
            program("coremlc-encrypting", ["CompilerCommands", "EncryptedCommands", arguments]),
            module(
                "CoreMLPython",
                [
                    "MLNumerics", "MLKernels", "CoreVideo", "MLFiles", "MLFeatureFiles", "MLRuntime", "MLModels",
                    "MLEngine", "CoreML",
                ]
            ),
            module(
                "CoreMLPythonTraining",
                [
                    "MLNumerics", "MLImages", "CoreGraphics", "MLSpecification", "MLFiles", "MLFeatures",
                    "MLExtractors", "TabularData", "CoreML", "Vision", "NaturalLanguage", "CreateML", "CoreMLPython",
                ]
            ),
            program("kernelbench", ["MLKernels"]),
            program("tabularbench", ["TabularData"]),
        ]
    ),
]

let checks: [[Target]] = [
    folder(
        "Tests/Support",
        [
            module(
                "TestSupport",
                [
                    "BackgroundTasks", "MLNumerics", "MLKernels", "MLSpecification", "MLGraph", "MLOperators",
                    "MLRuntime", "MLExtractors",
                ]
            ),
            tests("TestSupportTests", ["MLNumerics", "MLGraph", "TestSupport"]),
        ]
    ),
    folder(
        "Tests/Kernels",
        [
            tests("MLNumericsTests", ["MLNumerics"]),
            tests("MLKernelsTests", ["MLKernels"]),
        ]
    ),
    folder(
        "Tests/Media",
        [
            tests("MLDrawingTests", ["MLNumerics", "MLDrawing"]),
            tests(
                "ImageIOTests",
                ["MLNumerics", "MLImages", "CoreGraphics", "CoreVideo", "ImageIO"],
                exclude: ["Fixtures"]
            ),
        ]
    ),
    folder(
        "Tests/Formats",
        [
            client("GeneratedClassesInSwift5", ["CoreML"], version: .v5),
            tests("MLZipFilesTests", ["MLNumerics", "MLZipFiles"]),
            tests("MLFilesTests", ["MLNumerics", "MLSpecification", "MLFiles", "TestSupport", protobuf]),
            tests("MLGenerationTests", ["MLNumerics", "MLSpecification", "MLFiles", "MLGeneration"]),
            tests(
                "GeneratedClassTests",
                [
                    "MLNumerics", "MLSpecification", "MLFiles", "MLGeneration", "MLEngine", "CoreML",
                    "GeneratedClassesInSwift5", "TestSupport", protobuf,
                ]
            ),
        ]
    ),
    folder(
        "Tests/Engine",
        [
            tests(
                "MLOperatorsTests",
                [
                    "MLNumerics", "MLKernels", "MLSpecification", "MLGraph", "MLOperators", "MLRuntime",
                    "MLGraphTraining",
                    "TestSupport",
                ]
            ),
            tests("MLGraphTests", ["MLNumerics", "MLGraph"]),
            tests(
                "MLEngineTests",
                [
                    "MLNumerics", "MLKernels", "MLSpecification", "MLFiles", "MLFeatures", "MLRuntime", "MLModels",
                    "MLEngine", protobuf,
                ]
            ),
            tests("MLRuntimeTests", ["MLNumerics", "MLKernels", "MLGraph", "MLRuntime"]),
            tests(
                "MLLoweringTests",
                [
                    "MLNumerics", "MLSpecification", "MLFiles", "MLFeatures", "MLGraph", "MLOperators", "MLLowering",
                    "MLEngine", "TestSupport", protobuf,
                ]
            ),
            tests("MLPassesTests", ["MLNumerics", "MLKernels", "MLGraph", "MLOperators", "MLRuntime", "MLPasses"]),
            tests("MLModelsTests", ["MLNumerics", "MLSpecification", "MLFeatures", "MLModels", protobuf]),
            tests("OperatorCensusTests", ["MLGraph", "MLOperators", "TestSupport"]),
        ]
    ),
    folder(
        "Tests/Training",
        [
            tests("MLTrainingCoreTests", ["MLNumerics", "MLFeatures", "MLTrainingCore"]),
            tests(
                "MLExtractorsTests",
                ["MLNumerics", "MLImages", "MLSpecification", "MLFiles", "MLFeatures", "MLEngine", "MLExtractors"]
            ),
            tests(
                "MLPosesTests",
                ["MLNumerics", "MLImages", "MLSpecification", "MLFiles", "MLExtractors", "MLPoses", "TestSupport"]
            ),
            tests(
                "MLGraphTrainingTests",
                [
                    "CTraining", "MLNumerics", "MLGraph", "MLOperators", "MLTrainingCore", "MLGraphTraining",
                    "TestSupport",
                ]
            ),
            tests(
                "MLImageTrainingTests",
                [
                    "MLNumerics", "MLImages", "MLSpecification", "MLFiles", "MLGraph", "MLTrainingCore",
                    "MLGraphTraining", "MLExtractors", "MLImageTraining", "TestSupport",
                ]
            ),
            tests(
                "MLUpdatingTests",
                [
                    "MLNumerics", "MLKernels", "MLSpecification", "MLFiles", "MLFeatures", "MLGraphTraining",
                    "MLUpdating", "TestSupport", protobuf,
                ]
            ),
            tests(
                "MLTreeTrainingTests",
                [
                    "MLNumerics", "MLKernels", "MLSpecification", "MLFeatures", "MLModels", "MLTrainingCore",
                    "MLTreeTraining",
                ]
            ),
            tests(
                "MLLinearTrainingTests",
                [
                    "MLNumerics", "MLKernels", "MLSpecification", "MLFeatures", "MLModels", "MLTrainingCore",
                    "MLLinearTraining",
                ]
            ),
            tests(
                "MLTextTrainingTests",
                [
                    "MLNumerics", "MLKernels", "MLSpecification", "MLFeatures", "MLModels", "MLTrainingCore",
                    "MLTextTraining",
                ]
            ),
            tests(
                "MLSeriesTrainingTests",
                [
                    "CTraining", "MLNumerics", "MLKernels", "MLAudio", "MLSpecification", "MLFiles", "MLFeatures",
                    "MLEngine", "MLTrainingCore", "MLSeriesTraining",
                ]
            ),
        ]
    ),
    folder(
        "Tests/Inspection",
        [
            tests(
                "MLInspectionTests",
                [
                    "MLNumerics", "MLSpecification", "MLFiles", "MLFeatures", "MLFeatureFiles", "MLEngine",
                    "MLInspection", "TestSupport", protobuf,
                ]
            ),
            tests(
                "MLTestVectorsTests",
                [
                    "MLNumerics", "MLSpecification", "MLFiles", "MLFeatures", "MLFeatureFiles", "MLTestVectors",
                    "TestSupport", protobuf,
                ]
            ),
            tests("MLPreviewTests", ["MLNumerics", "MLSpecification", "MLFiles", "MLFeatures", "MLPreview"]),
        ]
    ),
    folder(
        "Tests/Public",
        [
            client(
                "SourceCompatibility",
                [
                    "CoreMedia", "AVFAudio", "CoreGraphics", "CoreVideo", "ImageIO", "TabularData", "CoreML", "Vision",
                    "SoundAnalysis", "CreateML",
                ]
            ),
            app(
                "ReadMeSnippets",
                [
                    "BackgroundTasks", "TabularData", "CoreML", "CoreMLExtras", "NaturalLanguage", "QuestionAnswering",
                    "CreateML", "CoreMLEncryption",
                ]
            ),
            tests("BackgroundTasksTests", ["BackgroundTasks", "TestSupport"]),
            tests("TabularDataTests", ["CTabular", "TabularData", "TestSupport"]),
            tests("CoreMLTests", ["MLKernels", "MLSpecification", "MLFiles", "CoreML", "TestSupport", protobuf]),
            tests(
                "CoreMLExtrasTests",
                [
                    "MLNumerics", "MLSpecification", "MLFiles", "BackgroundTasks", "CoreML", "CoreMLExtras",
                    "TestSupport", protobuf,
                ]
            ),
            tests(
                "VisionTests",
                ["MLNumerics", "MLImages", "MLFiles", "MLExtractors", "CoreML", "Vision", "TestSupport"]
            ),
            tests(
                "NaturalLanguageTests",
                ["MLFiles", "MLModels", "MLTrainingCore", "MLTextTraining", "CoreML", "NaturalLanguage"]
            ),
            tests("SoundAnalysisTests", ["CoreMedia", "AVFAudio", "CoreML", "CoreMLExtras", "SoundAnalysis"]),
            tests("QuestionAnsweringTests", ["CoreML", "CoreMLExtras", "QuestionAnswering"]),
            tests(
                "CreateMLTests",
                [
                    "MLNumerics", "MLImages", "CoreGraphics", "CoreVideo", "ImageIO", "MLSpecification", "MLFiles",
                    "MLTrainingCore", "MLDetectionTraining", "MLStyleTraining", "MLExtractors", "Combine",
                    "TabularData", "CoreML", "Vision", "NaturalLanguage", "CreateML", "TestSupport",
                ]
            ),
        ]
    ),
    folder(
        "Tests/Encryption",
        [
            app("ClearApp", ["CoreML"]),
            app("EncryptedApp", ["CoreML", "CoreMLEncryption"]),
            tests(
                "MLEncryptionTests",
                ["MLNumerics", "MLSpecification", "MLFiles", "MLEngine", "MLEncryption", "MLArchive", "MLPackaging"]
                    + crypto
            ),
            tests("MLDeltaTests", ["MLNumerics", "MLFiles", "MLEncryption", "MLArchive", "MLDelta"] + crypto),
            tests(
                "CoreMLEncryptionTests",
                ["MLNumerics", "MLFiles", "CoreML", "MLEncryption", "MLPackaging", "CoreMLEncryption", "TestSupport"]
            ),
        ]
    ),
    folder(
        "Tests/Deployment",
        [
            module(
                "DeploymentSupport",
                ["MLEncryption", "MLArchive", "MLDelta", "UpdateFramework", "DeploymentPolicy", "DeploymentClient"]
                    + crypto
            ),
            program(
                "DeploymentRunner",
                ["UpdateFramework", "DeploymentPolicy", "DeploymentClient", "DeploymentSupport"]
            ),
            program("DeliveryRunner", ["CoreML", "CoreMLEncryption", "CoreMLDeployment"]),
            app("CollectionApp", ["CoreML", "CoreMLDeployment"]),
            module("RolloutSimulation", ["DeploymentPolicy"]),
            program("RolloutRunner", ["DeploymentPolicy", "RolloutSimulation"]),
            tests("UpdateFrameworkTests", ["UpdateFramework"] + crypto),
            tests(
                "DeploymentPolicyTests",
                ["MLNumerics", "MLFiles", "MLEncryption", "DeploymentPolicy", "RolloutSimulation"]
            ),
            tests(
                "DeploymentKeysTests",
                [
                    "MLNumerics", "MLFiles", "CoreML", "MLEncryption", "MLPackaging", "CoreMLEncryption",
                    "DeploymentKeys", "TestSupport",
                ] + crypto
            ),
            tests(
                "DeploymentClientTests",
                [
                    "MLNumerics", "MLEncryption", "UpdateFramework", "DeploymentPolicy", "DeploymentClient",
                    "DeploymentSupport",
                ]
            ),
            tests(
                "CoreMLDeploymentTests",
                [
                    "MLNumerics", "MLSpecification", "MLFiles", "MLFeatures", "MLTestVectors", "BackgroundTasks",
                    "MLEncryption", "MLPackaging", "UpdateFramework", "DeploymentClient", "CoreMLDeployment",
                    "DeliveryRunner", "DeploymentSupport", protobuf,
                ]
            ),
        ]
    ),
    folder(
        "Tests/Programs",
        [
            program("FlowerGarden", ["MLNumerics", "MLDrawing", "CoreML", "CoreMLExtras"]),
            tests(
                "CoreMLPythonTrainingTests",
                ["MLImages", "ImageIO", "TabularData", "CoreMLPython", "CoreMLPythonTraining"]
            ),
            tests(
                "CommandLineTests",
                [
                    "MLSpecification", "MLFiles", "MLPreview", "TabularData", "CommandLineTool", "coremlc",
                    "TestSupport", protobuf,
                ]
            ),
        ]
    ),
    // Programs that independent implementations are compared with.
    folder("Oracles/poses", [program("PoseRunner", ["MLImages", "ImageIO", "MLExtractors", "MLPoses"])]),
    folder("Oracles/trees", [program("TreeTrainingRunner", ["MLNumerics", "MLKernels", "MLTreeTraining"])]),
    folder(
        "Oracles/linear-models",
        [program("LinearTrainingRunner", ["MLNumerics", "MLKernels", "MLTrainingCore", "MLLinearTraining"])]
    ),
    folder(
        "Oracles/texts",
        [
            program(
                "TextTrainingRunner",
                ["MLNumerics", "MLKernels", "MLFeatures", "MLModels", "MLTrainingCore", "MLTextTraining"]
            )
        ]
    ),
    folder("Oracles/python-training", [program("PythonTrainingRunner", ["TabularData", "CreateML"])]),
    folder("Oracles/questions", [program("QuestionRunner", ["CoreML", "QuestionAnswering"])]),
    folder("Oracles/languages", [program("LanguageRunner", ["NaturalLanguage"])]),
    folder("Oracles/series", [program("SeriesTrainingRunner", ["MLNumerics", "MLKernels", "MLSeriesTraining"])]),
    folder(
        "Oracles/network-training",
        [program("TrainingRunner", ["MLNumerics", "MLKernels", "MLFiles", "MLFeatures", "MLUpdating"])]
    ),
    folder(
        "Oracles/encryption",
        [
            program(
                "EncryptionRunner",
                ["MLNumerics", "MLSpecification", "MLFiles", "MLEncryption", "MLArchive"] + crypto
            )
        ]
    ),
    folder("Oracles/key-service", [program("KeyServiceRunner", ["MLFiles", "MLEncryption", "DeploymentKeys"])]),
    folder("Oracles/update-framework", [program("UpdateFrameworkRunner", ["UpdateFramework"])]),
]

let examples: [Target] = [
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
    .executableTarget(
        name: "demo-first-prediction",
        dependencies: ["CoreML"],
        path: "Examples/FirstPrediction",
        swiftSettings: [.swiftLanguageMode(.v6)]
    ),
    example("demo-stickers", "Stickers"),
    example("demo-adapt", "Adapt"),
    example("demo-extractor", "SharedExtractor"),
    example("demo-orders", "Orders"),
    example("demo-houses", "Houses"),
    example("demo-topics", "Topics"),
    example("demo-digits", "Digits"),
]

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
        .library(name: "SoundAnalysis", targets: ["SoundAnalysis"]),
        .library(name: "CoreMedia", targets: ["CoreMedia"]),
        .library(name: "AVFAudio", targets: ["AVFAudio"]),
        .library(name: "QuestionAnswering", targets: ["QuestionAnswering"]),
        .library(name: "Combine", targets: ["Combine"]),
        .library(name: "CoreMLPython", type: .dynamic, targets: ["CoreMLPython", "CoreMLPythonTraining"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: (sources + checks).flatMap { $0 } + examples,
    cxxLanguageStandard: .cxx17
)

// Every target but tests, for `scripts/build`: building the whole package would build the tools of its dependencies, too.
let buildable = package.targets.filter { [.regular, .executable].contains($0.type) }
package.targets.append(
    .target(
        name: "AllTargets",
        dependencies: buildable.map { .target(name: $0.name) },
        path: "Tests/Support/AllTargets",
        swiftSettings: settings
    )
)

// Links clang's fuzzer, which builds without it lack: Reliability/fuzz sets this.
if Context.environment["COREML_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "DeploymentFuzzer",
            dependencies: [
                "DeploymentKeys", "DeploymentPolicy", "MLArchive", "MLDelta", "MLEncryption", "MLFiles", "MLNumerics",
                "UpdateFramework",
            ] + crypto,
            path: "Tests/Deployment/DeploymentFuzzer",
            swiftSettings: settings
        )
    )
}

// Wherever a package has plugins, building all of it builds their tools a second time, with everything below them, for
// the machine that builds.  Scripts that build this package for its tests leave the plugins out.  COREML_TOOLS is the path
// of an artifact bundle (scripts/packaging/plugin-tools) whose programs the plugins use instead.
if Context.environment["COREML_WITHOUT_PLUGINS"] == nil {
    package.products.append(.plugin(name: "CoreMLPlugin", targets: ["CoreMLPlugin"]))
    package.products.append(.plugin(name: "CoreMLEncryptionPlugin", targets: ["CoreMLEncryptionPlugin"]))
    var (tool, encryptingTool): (Target.Dependency, Target.Dependency) = ("coremlc", "coremlc-encrypting")
    if let bundle = Context.environment["COREML_TOOLS"] {
        // SwiftPM takes relative paths only.
        let depth = Context.packageDirectory.split(separator: "/").count
        let path = bundle.hasPrefix("/") ? String(repeating: "../", count: depth) + bundle.dropFirst() : bundle
        package.targets.append(.binaryTarget(name: "coreml-tools", path: path))
        (tool, encryptingTool) = ("coreml-tools", "coreml-tools")
    }
    package.targets.append(.plugin(name: "CoreMLPlugin", capability: .buildTool(), dependencies: [tool]))
    package.targets.append(
        .plugin(name: "CoreMLEncryptionPlugin", capability: .buildTool(), dependencies: [encryptingTool])
    )
}
