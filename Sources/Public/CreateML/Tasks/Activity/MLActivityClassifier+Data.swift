public import Foundation
public import TabularData

extension MLActivityClassifier {
    /// Where labelled recordings come from.
    public enum DataSource {
        /// A table with a column for each sensor, the labels and the recordings.
        case dataFrame(DataFrame)
        /// A folder of CSV or JSON files, one a recording, and a table in it that says for each (in the recording column)
        /// from when to when which label holds.  Rows outside all such times are left out.
        case directoryWithDataAndAnnotation(
            at: URL,
            annotationFileName: String,
            timeStampColumn: String,
            labelStartTimeColumn: String,
            labelEndTimeColumn: String
        )
        /// A folder with a folder for each label, which holds CSV or JSON files, one a recording.
        case labeledDirectories(at: URL)

        /// All recordings as one table: the sensors, the labels and the recordings.
        public func gatherAnnotatedFeatures(
            featureColumns: [String],
            labelColumn: String = "label",
            recordingFileColumn: String? = nil
        ) throws -> DataFrame {
            let recordingFileColumn = recordingFileColumn ?? ActivityTable.recordingColumn
            let recordings = try recordings(featureColumns, labelColumn, recordingFileColumn)
            var result = DataFrame()
            for (sensor, name) in featureColumns.enumerated() {
                result.append(
                    column: Column<Double>(
                        name: name,
                        contents: recordings.flatMap { $0.sensors[sensor].map { Double($0) } }
                    )
                )
            }
            result.append(column: Column<String>(name: labelColumn, contents: recordings.flatMap(\.labels)))
            let names = recordings.flatMap { [String](repeating: $0.name, count: $0.labels.count) }
            result.append(column: Column<String>(name: recordingFileColumn, contents: names))
            return result
        }

        /// - Throws: for tables without the columns, and numbers and labels that are missing.
        func recordings(
            _ features: [String],
            _ labelColumn: String,
            _ recordingColumn: String
        ) throws -> [ActivityTable] {
            guard !features.isEmpty else {
                throw MLCreateError.generic(reason: "no feature columns are named; name those of the sensors")
            }
            switch self {
            case .dataFrame(let frame):
                return try ActivityTable.tables(frame, features, labelColumn, recordingColumn)
            case .labeledDirectories(let url):
                let files = try LabeledFolders.directories(at: url)
                return try files.keys.sorted().flatMap { label in
                    try (files[label] ?? []).map { file in
                        let frame = try DataFrame.seriesTable(at: file)
                        return ActivityTable(
                            name: label + "/" + file.lastPathComponent,
                            sensors: try ActivityTable.sensors(frame, features, file),
                            labels: [String](repeating: label, count: frame.shape.rows)
                        )
                    }
                }
            case .directoryWithDataAndAnnotation(let url, let annotations, let time, let start, let end):
                return try ActivityTable.annotated(
                    url,
                    annotations,
                    time,
                    start,
                    end,
                    features,
                    labelColumn,
                    recordingColumn
                )
            }
        }
    }

    /// How to train.
    public struct ModelParameters {
        /// What validates.
        public enum Validation {
            case none
            case dataSource(MLActivityClassifier.DataSource)
            /// A share of the recordings.
            case split(strategy: MLSplitStrategy)
        }

        /// What validates, as it was given.
        enum Validating {
            case validation(Validation)
            case table(MLDataTable)

            /// - Throws: why the table is not valid.
            func resolved() throws -> Validation {
                switch self {
                case .validation(let validation): validation
                case .table(let table): .dataSource(.dataFrame(try table.dataFrame()))
                }
            }
        }

        var validating: Validating

        /// What validates; a table that is not valid is one without rows here.
        public var validation: Validation {
            get {
                // Training says why a table is not valid.
                do { return try validating.resolved() } catch { return .dataSource(.dataFrame(DataFrame())) }
            }
            set { validating = .validation(newValue) }
        }

        /// Sequences of up to 20 windows that a step takes; 32 when `nil`.
        public var batchSize: Int?
        /// Iterations, each of which is as many passes over the data as 50 steps need; `nil`: until the validation loss
        /// stops becoming less.
        public var maximumIterations: Int?
        /// Rows of a window; 100 when `nil`.
        public var predictionWindowSize: Int?

        public init(
            validation: Validation = .split(strategy: .automatic),
            batchSize: Int? = 32,
            maximumIterations: Int? = 10,
            predictionWindowSize: Int? = 100
        ) {
            validating = .validation(validation)
            self.batchSize = batchSize
            self.maximumIterations = maximumIterations
            self.predictionWindowSize = predictionWindowSize
        }

        public init(
            validationData: DataSource,
            batchSize: Int? = 32,
            maximumIterations: Int? = 10,
            predictionWindowSize: Int? = 100
        ) {
            self.init(
                validation: .dataSource(validationData),
                batchSize: batchSize,
                maximumIterations: maximumIterations,
                predictionWindowSize: predictionWindowSize
            )
        }
    }
}

extension MLActivityClassifier.ModelParameters: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String {
        func text(_ value: Int?) -> String { value.map { "\($0)" } ?? "automatic" }
        return """
            Batch size: \(text(batchSize))
            Maximum iterations: \(text(maximumIterations))
            Prediction window size: \(text(predictionWindowSize))
            """
    }

    public var debugDescription: String { description }
}

/// A labelled recording.
struct ActivityTable {
    static let labelColumn = "label"
    static let recordingColumn = "recordingFile"

    var name: String
    /// By feature column and row.
    var sensors: [[Float]]
    var labels: [String]

    static func sensors(_ frame: DataFrame, _ features: [String], _ file: URL) throws -> [[Float]] {
        do { return try features.map { try frame.seriesNumbers($0) } } catch {
            throw MLCreateError.io(reason: "\(file.path): \(error)")
        }
    }

    /// The recordings of a table, in the order in which they first come.
    static func tables(
        _ frame: DataFrame,
        _ features: [String],
        _ labelColumn: String,
        _ recordingColumn: String
    ) throws -> [ActivityTable] {
        guard frame.shape.rows > 0 else {
            throw MLCreateError.generic(reason: "the table has no rows; there is nothing to learn from")
        }
        let sensors = try features.map { try frame.seriesNumbers($0) }
        let labels = try frame.seriesTexts(labelColumn, for: "the labels")
        let groups = RowGroups(
            frame.containsColumn(recordingColumn)
                ? try frame.seriesTexts(recordingColumn, for: "the recording")
                : [String](repeating: "the table", count: labels.count)
        )
        return zip(groups.names, groups.rows).map { name, rows in
            ActivityTable(
                name: name,
                sensors: sensors.map { sensor in rows.map { sensor[$0] } },
                labels: rows.map { labels[$0] }
            )
        }
    }

    /// Recordings whose labels another table gives by times.
    static func annotated(
        _ folder: URL,
        _ annotations: String,
        _ timeColumn: String,
        _ startColumn: String,
        _ endColumn: String,
        _ features: [String],
        _ labelColumn: String,
        _ recordingColumn: String
    ) throws -> [ActivityTable] {
        let url = folder.appendingPathComponent(annotations)
        let table = try DataFrame.seriesTable(at: url)
        let files = RowGroups(try table.seriesTexts(recordingColumn, for: "the recording"))
        let labels = try table.seriesTexts(labelColumn, for: "the labels")
        let (starts, ends) = (try table.seriesTimes(startColumn), try table.seriesTimes(endColumn))
        var result: [ActivityTable] = []
        for (name, rows) in zip(files.names, files.rows) {
            let file = folder.appendingPathComponent(name)
            let frame = try DataFrame.seriesTable(at: file)
            let sensors = try sensors(frame, features, file)
            let times: [Double]
            do { times = try frame.seriesTimes(timeColumn) } catch {
                throw MLCreateError.io(reason: "\(file.path): \(error)")
            }
            // Each annotation is a recording of its own: what lies between two was not labelled.
            for (number, row) in rows.enumerated() {
                guard starts[row] <= ends[row] else {
                    throw MLCreateError.generic(
                        reason: "row \(row) of \(url.path) ends at \(ends[row]), before it starts at \(starts[row])"
                    )
                }
                let inside = times.indices.filter { times[$0] >= starts[row] && times[$0] <= ends[row] }
                guard !inside.isEmpty else {
                    throw MLCreateError.generic(
                        reason: "\(name) has no samples between \(starts[row]) and \(ends[row]), where row \(row) of "
                            + "\(annotations) labels it; correct or remove the row"
                    )
                }
                result.append(
                    ActivityTable(
                        name: rows.count > 1 ? "\(name) (\(number + 1))" : name,
                        sensors: sensors.map { sensor in inside.map { sensor[$0] } },
                        labels: [String](repeating: labels[row], count: inside.count)
                    )
                )
            }
        }
        return result
    }
}

extension DataFrame {
    /// Times as seconds; dates count from 2001 on.
    fileprivate func seriesTimes(_ name: String) throws -> [Double] {
        let column = try seriesColumn(name, for: "times")
        return try (0..<column.count).map { row in
            switch column[row] {
            case let value as Double: return value
            case let value as Int: return Double(value)
            case let value as Date: return value.timeIntervalSinceReferenceDate
            case nil: throw MLCreateError.generic(reason: "row \(row) of the column '\(name)' has no time")
            case let value?:
                throw MLCreateError.type(
                    reason: "row \(row) of the column '\(name)' is '\(value)'; times are numbers or dates"
                )
            }
        }
    }
}
