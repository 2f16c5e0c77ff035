import MLFiles
import MLSpecification

/// The description of a model that a compiled folder carries as `metadata.json`: a list of one object.
enum CompiledMetadata {
    static func json(_ model: SpecModel) -> JSONValue {
        let description = model.description_p
        let metadata = description.metadata
        var members: [JSONValue.Member] = [
            .init("metadataOutputVersion", .string("3.0")),
            .init("modelType", .object([.init("name", .string("MLModelType_" + kind(model)))])),
            .init("specificationVersion", .number(Double(model.specificationVersion))),
            .init("isUpdatable", .string(model.isUpdatable ? "1" : "0")),
            .init("inputSchema", .array(description.input.map(feature))),
            .init("outputSchema", .array(description.output.map(feature))),
            .init("stateSchema", .array(description.state.map(feature))),
        ]
        if !description.functions.isEmpty {
            members.append(.init("functions", .array(description.functions.map(function))))
            members.append(.init("defaultFunctionName", .string(description.defaultFunctionName)))
        }
        if !description.predictedFeatureName.isEmpty {
            members.append(.init("predictedFeatureName", .string(description.predictedFeatureName)))
        }
        if !description.predictedProbabilitiesName.isEmpty {
            members.append(.init("predictedProbabilitiesName", .string(description.predictedProbabilitiesName)))
        }
        if let systems = SpecificationVersion.systems(model.specificationVersion) {
            var availability: [JSONValue.Member] = [
                .init("iOS", .string(systems.iOS)), .init("macOS", .string(systems.macOS)),
                .init("tvOS", .string(systems.tvOS)), .init("watchOS", .string(systems.watchOS)),
            ]
            if let visionOS = systems.visionOS { availability.append(.init("visionOS", .string(visionOS))) }
            members.append(.init("availability", .object(availability)))
        }
        if case .mlProgram(let program)? = model.type {
            members.append(.init("mlProgramOperationTypeHistogram", histogram(program)))
        }
        for (name, value) in [
            ("author", metadata.author), ("license", metadata.license), ("version", metadata.versionString),
            ("shortDescription", metadata.shortDescription),
        ] where !value.isEmpty {
            members.append(.init(name, .string(value)))
        }
        let custom = metadata.userDefined.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .string($0.value)) }
        members.append(.init("userDefinedMetadata", .object(custom)))
        return .array([.object(members)])
    }

    /// The name of the kind of model: that of its field in the specification.
    private static func kind(_ model: SpecModel) -> String {
        guard let type = model.type else { return "unknown" }
        return Mirror(reflecting: type).children.first?.label ?? "unknown"
    }

    private static func function(_ function: SpecFunctionDescription) -> JSONValue {
        .object([
            .init("name", .string(function.name)),
            .init("inputSchema", .array(function.input.map(feature))),
            .init("outputSchema", .array(function.output.map(feature))),
            .init("stateSchema", .array(function.state.map(feature))),
        ])
    }

    private static func feature(_ feature: SpecFeatureDescription) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("name", .string(feature.name)),
            .init("isOptional", .string(feature.type.isOptional ? "1" : "0")),
            .init("shortDescription", .string(feature.shortDescription)),
        ]
        switch feature.type.type {
        case .multiArrayType(let array)?:
            members.append(.init("type", .string("MultiArray")))
            members += Self.array(array)
        case .stateType(let state)?:
            members.append(.init("type", .string("State")))
            members += Self.array(state.arrayType)
        case .imageType(let image)?:
            members += [
                .init("type", .string("Image")), .init("width", .string("\(image.width)")),
                .init("height", .string("\(image.height)")), .init("colorspace", .string(colorSpace(image.colorSpace))),
                .init("hasSizeFlexibility", .string(image.sizeFlexibility == nil ? "0" : "1")),
            ]
        case .dictionaryType(let dictionary)?:
            members.append(.init("type", .string("Dictionary")))
            if case .int64KeyType? = dictionary.keyType {
                members.append(.init("keyType", .string("Int64")))
            } else {
                members.append(.init("keyType", .string("String")))
            }
        case .sequenceType(let sequence)?:
            if case .int64Type? = sequence.type {
                members.append(.init("type", .string("Sequence (Int64)")))
            } else {
                members.append(.init("type", .string("Sequence (String)")))
            }
        case .int64Type?: members.append(.init("type", .string("Int64")))
        case .doubleType?: members.append(.init("type", .string("Double")))
        case .stringType?: members.append(.init("type", .string("String")))
        case nil: members.append(.init("type", .string("unknown")))
        }
        return .object(members)
    }

    private static func array(_ array: SpecArrayFeatureType) -> [JSONValue.Member] {
        let dataType =
            switch array.dataType {
            case .float32: "Float32"
            case .double: "Double"
            case .int32: "Int32"
            case .int8: "Int8"
            case .float16: "Float16"
            case .invalidArrayDataType, .UNRECOGNIZED: "unknown"
            }
        return [
            .init("dataType", .string(dataType)),
            .init("shape", .string("[" + array.shape.map { "\($0)" }.joined(separator: ", ") + "]")),
            .init("hasShapeFlexibility", .string(array.shapeFlexibility == nil ? "0" : "1")),
        ]
    }

    private static func colorSpace(_ space: SpecImageFeatureType.ColorSpace) -> String {
        switch space {
        case .grayscale: "Grayscale"
        case .rgb: "RGB"
        case .bgr: "BGR"
        case .grayscaleFloat16: "GrayscaleFloat16"
        case .invalidColorSpace, .UNRECOGNIZED: "unknown"
        }
    }

    /// How often each operation stands in the program, constants apart.
    private static func histogram(_ program: MILProgram) -> JSONValue {
        var counts: [String: Int] = [:]
        func count(_ block: MILBlock) {
            for operation in block.operations {
                if operation.type != "const" { counts[operation.type, default: 0] += 1 }
                operation.blocks.forEach(count)
            }
        }
        for function in program.functions.values {
            if let block = function.blockSpecializations[function.opset] { count(block) }
        }
        return .object(counts.sorted { $0.key < $1.key }.map { .init($0.key, .number(Double($0.value))) })
    }
}
