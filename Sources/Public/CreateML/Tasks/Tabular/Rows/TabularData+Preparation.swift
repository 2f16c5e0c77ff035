import MLFeatures
import MLTrainingCore
import TabularData

/// The targets as a column holds them.
enum TargetContent: Sendable {
    case numbers([Double])
    case texts([String])
    case integers([Int64])

    var count: Int {
        switch self {
        case .numbers(let values): values.count
        case .texts(let values): values.count
        case .integers(let values): values.count
        }
    }

    /// The targets of a regressor.
    /// - Throws: `MLCreateError.type` for other elements than numbers, `.generic` for a number that is missing or not
    ///   finite.
    static func numbers(_ column: AnyColumn) throws -> TargetContent {
        guard case .numbers(let values) = try content(column), !(column.wrappedElementType is Bool.Type) else {
            throw MLCreateError.type(
                reason: "the target column '\(column.name)' holds elements of type \(column.wrappedElementType); a "
                    + "regressor learns numbers: convert it, or use a classifier"
            )
        }
        if let row = values.first(where: { !$0.isFinite })?.row {
            throw MLCreateError.generic(
                reason:
                    "the target '\(column.name)' of row \(row) is missing or no finite number; remove such rows first"
            )
        }
        return .numbers(values.array)
    }

    /// The targets of a classifier: strings, integers, or `Bool`, whose labels are the strings "false" and "true".
    /// - Throws: `MLCreateError.type` for other elements, `.generic` for a missing one.
    static func labels(_ column: AnyColumn) throws -> TargetContent {
        switch column.wrappedElementType {
        case is String.Type:
            return .texts(
                try column.assumingType(String.self).enumerated().map { row, value in
                    guard let value else { throw missing(column, row) }
                    return value
                }
            )
        case is Bool.Type:
            return .texts(
                try column.assumingType(Bool.self).enumerated().map { row, value in
                    guard let value else { throw missing(column, row) }
                    return value ? "true" : "false"
                }
            )
        case let type as any FixedWidthInteger.Type:
            return .integers(try integers(column, type))
        default:
            throw MLCreateError.type(
                reason: "the target column '\(column.name)' holds elements of type \(column.wrappedElementType); a "
                    + "classifier learns String, Int or Bool: convert it, or use a regressor"
            )
        }
    }

    private static func integers<T: FixedWidthInteger>(_ column: AnyColumn, _ type: T.Type) throws -> [Int64] {
        try column.assumingType(type).enumerated().map { row, value in
            guard let value else { throw missing(column, row) }
            guard let label = Int64(exactly: value) else {
                throw MLCreateError.type(reason: "the target of row \(row), \(value), is too large for a class label")
            }
            return label
        }
    }

    private static func content(_ column: AnyColumn) throws -> ColumnContent {
        do { return try ColumnContent(column) } catch MLCreateError.type {
            throw MLCreateError.type(
                reason: "the target column '\(column.name)' holds elements of type \(column.wrappedElementType), "
                    + "which cannot be a target"
            )
        }
    }

    private static func missing(_ column: AnyColumn, _ row: Int) -> MLCreateError {
        .generic(reason: "the target '\(column.name)' of row \(row) is missing; remove such rows first")
    }

    /// The classes, ascending; `nil` for numbers.
    var labels: LabelList? {
        switch self {
        case .numbers: nil
        case .texts(let values): .strings(Set(values).sorted())
        case .integers(let values): .integers(Set(values).sorted())
        }
    }

    /// By row: the number, or the index of its class in `labels`; -1 for a class that is not among them.
    func values(_ labels: LabelList?) throws -> [Double] {
        switch (self, labels) {
        case (.numbers(let values), nil): return values
        case (.texts(let values), .strings(let list)?):
            let positions = Dictionary(uniqueKeysWithValues: zip(list, 0...))
            return values.map { Double(positions[$0] ?? -1) }
        case (.integers(let values), .integers(let list)?):
            let positions = Dictionary(uniqueKeysWithValues: zip(list, 0...))
            return values.map { Double(positions[$0] ?? -1) }
        default:
            throw MLCreateError.type(
                reason: "the targets are of another type than those that the model was trained on"
            )
        }
    }

    func rows(_ rows: [Int]) -> TargetContent {
        switch self {
        case .numbers(let values): .numbers(rows.map { values[$0] })
        case .texts(let values): .texts(rows.map { values[$0] })
        case .integers(let values): .integers(rows.map { values[$0] })
        }
    }

    /// The labels of two lists, ascending.
    static func union(_ first: LabelList, _ second: LabelList?) -> LabelList {
        switch (first, second) {
        case (.strings(let a), .strings(let b)?): .strings(Set(a + b).sorted())
        case (.integers(let a), .integers(let b)?): .integers(Set(a + b).sorted())
        default: first
        }
    }

    func encode(to writer: inout CheckpointWriter) {
        switch self {
        case .numbers(let values):
            writer.write(UInt8(0))
            writer.write(values)
        case .texts(let values):
            writer.write(UInt8(1))
            writer.write(values)
        case .integers(let values):
            writer.write(UInt8(2))
            writer.write(values)
        }
    }

    init(from reader: inout CheckpointReader) throws {
        switch try reader.readInteger(UInt8.self) {
        case 0: self = .numbers(try reader.readArray())
        case 1: self = .texts(try reader.readStrings())
        case 2: self = .integers(try reader.readArray())
        default: throw reader.damaged("a kind of target")
        }
    }
}

extension Fingerprint {
    mutating func add(_ target: TargetContent) {
        var writer = CheckpointWriter()
        target.encode(to: &writer)
        add(writer.bytes)
    }
}

/// The prepared data of a tabular task.
struct PreparedTable: Sendable {
    var target: String
    var layout: FeatureLayout
    /// `nil` for a regressor.
    var labels: LabelList?
    var training: EncodedTable
    var trainingTargets: TargetContent
    var validation: EncodedTable?
    var validationTargets: TargetContent?
    /// The fingerprint of the caller's data.
    var fingerprint: UInt64

    init(
        _ frame: DataFrame,
        target: String,
        features: [String]?,
        isClassifier: Bool,
        allowsMissing: Bool,
        validation strategy: MLTabularValidation
    ) throws {
        let features = features ?? frame.columns.map(\.name).filter { $0 != target }
        self.target = target
        guard frame.shape.rows > 0 else {
            throw MLCreateError.generic(reason: "the training data have no rows")
        }
        let column = try frame.column(named: target, for: "target")
        try Self.check(features, target, isClassifier)
        let read = isClassifier ? TargetContent.labels : TargetContent.numbers
        let targets = try read(column)
        let contents = try features.map { try ColumnContent(frame.column(named: $0, for: "feature")) }
        for (name, content) in zip(features, contents) {
            try content.checkShapes(name)
            if !allowsMissing { try content.checkPresence(name) }
        }
        var mark = Fingerprint(.wideProduct)
        mark.add(targets)
        for (name, content) in zip(features, contents) { mark.add(name, content) }

        var own = (contents: contents, targets: targets)
        var other: (contents: [ColumnContent], targets: TargetContent)?
        var held: DataFrame?
        switch strategy {
        case .none: break
        case .split(let strategy):
            let (training, validation) = try strategy.split(count: frame.shape.rows)
            if !validation.isEmpty {
                own = (contents.map { $0.rows(training) }, targets.rows(training))
                other = (contents.map { $0.rows(validation) }, targets.rows(validation))
            }
        case .dataFrame(let frame): held = frame
        case .table(let table): held = try table.dataFrame()
        }
        if let frame = held {
            guard frame.shape.rows > 0 else {
                throw MLCreateError.generic(reason: "the validation data have no rows; pass .none for no validation")
            }
            other = (
                try features.map { try ColumnContent(frame.column(named: $0, for: "validation")) },
                try read(try frame.column(named: target, for: "validation"))
            )
            if let other {
                if !allowsMissing {
                    for (name, content) in zip(features, other.contents) {
                        try content.checkPresence(name, "validation ")
                    }
                }
                mark.add(other.targets)
                for (name, content) in zip(features, other.contents) { mark.add(name, content) }
            }
        }
        fingerprint = mark.value
        layout = try FeatureLayout(learning: Array(zip(features, own.contents)))
        labels = own.targets.labels
        if let labels, labels.count < 2 {
            throw MLCreateError.generic(
                reason: "the target '\(target)' has one class only, '\(labels.text(0))'; a classifier learns from "
                    + "examples of at least two"
            )
        }
        training = EncodedTable(rowCount: own.targets.count, features: try layout.encode(own.contents))
        trainingTargets = own.targets
        if let other {
            validation = EncodedTable(rowCount: other.targets.count, features: try layout.encode(other.contents))
            _ = try other.targets.values(labels)
            validationTargets = other.targets
        }
    }

    /// Features are columns other than the target and the model's outputs, each of them once.
    private static func check(_ features: [String], _ target: String, _ isClassifier: Bool) throws {
        guard !features.isEmpty else {
            throw MLCreateError.generic(reason: "there are no feature columns except the target '\(target)'")
        }
        guard !features.contains(target) else {
            throw MLCreateError.generic(reason: "the target '\(target)' cannot be a feature, too; leave it out")
        }
        if let twice = Dictionary(grouping: features, by: { $0 }).first(where: { $1.count > 1 })?.key {
            throw MLCreateError.generic(reason: "the feature column '\(twice)' is listed more than once")
        }
        if isClassifier, features.contains(target + "Probability") {
            throw MLCreateError.generic(
                reason: "a feature column is named '\(target)Probability', as the model's output is; rename it"
            )
        }
    }

    /// The same data as the input of a learner.
    func learnerTask() throws -> LearnerTask {
        LearnerTask(
            layout: layout,
            labels: labels,
            training: training,
            targets: try trainingTargets.values(labels),
            validation: validation,
            validationTargets: try validationTargets?.values(labels) ?? []
        )
    }

    func encode(to writer: inout CheckpointWriter) {
        writer.write(target)
        writer.write(fingerprint)
        layout.encode(to: &writer)
        training.encode(to: &writer)
        trainingTargets.encode(to: &writer)
        writer.write(validation != nil)
        if let validation, let validationTargets {
            validation.encode(to: &writer)
            validationTargets.encode(to: &writer)
        }
    }

    init(from reader: inout CheckpointReader) throws {
        target = try reader.readString()
        fingerprint = try reader.readInteger()
        layout = try FeatureLayout(from: &reader)
        training = try EncodedTable(from: &reader, layout)
        trainingTargets = try TargetContent(from: &reader)
        labels = trainingTargets.labels
        if try reader.readBool() {
            let table = try EncodedTable(from: &reader, layout)
            let targets = try TargetContent(from: &reader)
            guard table.rowCount == targets.count else { throw reader.damaged("the validation targets") }
            (validation, validationTargets) = (table, targets)
        }
        guard training.rowCount == trainingTargets.count, training.rowCount > 0 else {
            throw reader.damaged("the targets")
        }
    }
}
