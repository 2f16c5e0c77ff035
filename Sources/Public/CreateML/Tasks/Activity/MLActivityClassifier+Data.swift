public import Foundation
public import TabularData

extension MLActivityClassifier {
    /// Labelled recordings of motion sensors for training and evaluation.
    public enum DataSource {
        /// A data frame with columns of the sensors, the labels and the recordings.
        case dataFrame(DataFrame)
        /// A folder of CSV or JSON files, one for each recording, and a file in it that labels spans of time.
        ///
        /// A row of the annotation file names a recording (in the recording column), a label, and the first and last
        /// time at which it holds. Samples outside all spans are left out; each span is a recording of its own.
        case directoryWithDataAndAnnotation(
            at: URL,
            annotationFileName: String,
            timeStampColumn: String,
            labelStartTimeColumn: String,
            labelEndTimeColumn: String
        )
        /// A folder with a folder for each label, which holds CSV or JSON files, one for each recording.
        case labeledDirectories(at: URL)

        /// Gathers all recordings in a data frame of the sensors, the labels and the recordings.
        /// - Parameters:
        ///   - featureColumns: The names of the sensors' columns, at least one.
        ///   - labelColumn: The name of the column of labels.
        ///   - recordingFileColumn: The name of the column of recordings; "recordingFile" if `nil`.
        /// - Returns: The rows of all recordings.
        /// - Throws: `MLCreateError` for columns, numbers and labels that are missing, and files that cannot be read.
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

        /// The recordings.
        /// - Throws: `MLCreateError` for columns, numbers and labels that are missing.
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

    /// The parameters of training.
    public struct ModelParameters {
        /// The choice of validation data.
        public enum Validation {
            /// No validation.
            case none
            /// Other labelled recordings.
            case dataSource(MLActivityClassifier.DataSource)
            /// A part of the training recordings.
            case split(strategy: MLSplitStrategy)
        }

        /// The choice of validation data as it was given.
        enum Validating {
            case validation(Validation)
            case table(MLDataTable)

            /// The choice, with a table as a data source.
            /// - Throws: The table's error if it is invalid.
            func resolved() throws -> Validation {
                switch self {
                case .validation(let validation): validation
                case .table(let table): .dataSource(.dataFrame(try table.dataFrame()))
                }
            }
        }

        var validating: Validating

        /// The validation data; the automatic split of the training recordings by default.
        ///
        /// An invalid table reads as an empty data frame; training throws its error.
        public var validation: Validation {
            get {
                // Training throws the error of an invalid table.
                do { return try validating.resolved() } catch { return .dataSource(.dataFrame(DataFrame())) }
            }
            set { validating = .validation(newValue) }
        }

        /// The number of sequences of up to 20 windows in an optimisation step, at least 1; 32 by default and if `nil`.
        public var batchSize: Int?
        /// The maximum number of iterations, at least 1; 10 by default.
        ///
        /// An iteration is as many passes over the data as 50 steps need, at least one. `nil` continues until the
        /// validation loss has not fallen for 10 iterations, for at most 200, or 50 without validation data.
        public var maximumIterations: Int?
        /// The number of rows in a window; 100 by default and if `nil`.
        public var predictionWindowSize: Int?

        /// Creates training parameters; see the properties of the same names.
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

        /// Creates training parameters with a data source for validation.
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
    /// The parameters, one a line.
    public var description: String {
        func text(_ value: Int?) -> String { value.map { "\($0)" } ?? "automatic" }
        return """
            Batch size: \(text(batchSize))
            Maximum iterations: \(text(maximumIterations))
            Prediction window size: \(text(predictionWindowSize))
            """
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}

/// A labelled recording.
struct ActivityTable {
    static let labelColumn = "label"
    static let recordingColumn = "recordingFile"

    var name: String
    /// The samples by feature column and row.
    var sensors: [[Float]]
    var labels: [String]

    static func sensors(_ frame: DataFrame, _ features: [String], _ file: URL) throws -> [[Float]] {
        do { return try features.map { try frame.seriesNumbers($0) } } catch {
            throw MLCreateError.io(reason: "\(file.path): \(error)")
        }
    }

    /// The recordings of a table, in the order of their first rows.
    static func tables(
        _ frame: DataFrame,
        _ features: [String],
        _ labelColumn: String,
        _ recordingColumn: String
    ) throws -> [ActivityTable] {
        guard frame.shape.rows > 0 else {
            throw MLCreateError.generic(reason: "the table has no rows to train on")
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

    /// The recordings that a table of times labels.
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
            // Each annotation is a recording of its own, as the samples between two are not labelled.
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
    /// Times in seconds; dates count from 2001.
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
