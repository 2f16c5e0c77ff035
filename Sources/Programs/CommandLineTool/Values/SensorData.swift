import CreateML
import Foundation
import TabularData

/// Labelled sensor recordings on the command line.
struct SensorData {
    /// The name of the label column.
    var labelColumn: String
    var recordingColumn: String
    var delimiter: String?
    /// The annotations of a folder's recordings; `nil` when tables or folders contain the labels.
    var annotations: Annotations?

    /// A table of time ranges and their labels in recordings.
    struct Annotations {
        /// The name of the file in the folder of the recordings.
        var file: String
        /// The time stamp column of the recordings.
        var timeStampColumn: String
        var startColumn: String
        var endColumn: String
    }

    /// Recordings for training.
    struct Recordings {
        var source: MLActivityClassifier.DataSource
        /// The names of the sensors' columns.
        var features: [String]
        /// The number of recordings, as text.
        var count: String
        /// The number of files without rows, which are ignored.
        var empty = 0
    }

    /// The recordings of a table, as a file or an SFrame; of a folder of tables, each a recording; or of a folder with
    /// such a folder for each label.
    ///
    /// - Parameters:
    ///   - path: The file or folder.
    ///   - features: The names of the sensors' columns; all columns of numbers when `nil`.
    /// - Returns: The recordings with their labels.
    /// - Throws: `Failure` when a table cannot be read, lacks a column, or has no rows.
    func recordings(_ path: String, features: [String]?) throws -> Recordings {
        if let annotations { return try annotated(path, annotations, features) }
        guard TableFile.isFolderOfFiles(path) else {
            let frame = try table(path, features, hasLabels: true)
            let features = try features ?? sensors(of: frame, path)
            guard frame.shape.rows > 0 else { throw Failure("\(path) has no rows") }
            var count = "\(frame.shape.rows) rows"
            if frame.columns.contains(where: { $0.name == recordingColumn }) {
                count += ", \(Set(frame[recordingColumn].map { "\($0 ?? "")" }).count) recordings"
            }
            return Recordings(source: .dataFrame(frame), features: features, count: count)
        }
        let contents = try TableFile.contents(ofFolder: path)
        let folders = contents.filter(TableFile.isFolder)
        guard folders.isEmpty else {
            let files = try folders.flatMap(TableFile.contents(ofFolder:)).filter { !TableFile.isFolder($0) }
            guard !files.isEmpty else {
                throw Failure(
                    "the folders of '\(path)' are empty; put the tables of each label into the folder of its name"
                )
            }
            let features = try features ?? sensors(of: files, hasLabels: false)
            return Recordings(
                source: .labeledDirectories(at: URL(fileURLWithPath: path)),
                features: features,
                count: "\(files.count) recordings"
            )
        }
        let files = contents.filter { file in [".csv", ".tsv", ".json"].contains(where: file.hasSuffix) }
        guard !files.isEmpty else {
            throw Failure("'\(path)' holds no .csv, .tsv or .json files; put a table of each recording into it")
        }
        let features = try features ?? sensors(of: files, hasLabels: true)
        let (frame, empty) = try joined(files, features)
        return Recordings(
            source: .dataFrame(frame),
            features: features,
            count: "\(files.count) recordings",
            empty: empty
        )
    }

    private func annotated(_ path: String, _ annotations: Annotations, _ features: [String]?) throws -> Recordings {
        guard TableFile.isFolder(path) else {
            throw Failure("'\(path)' is not a folder; --annotation-file names a table in the folder of the recordings")
        }
        guard delimiter == nil else {
            throw Failure(
                "--delimiter cannot be combined with --annotation-file, whose tables have commas between the cells"
            )
        }
        let file = path + "/" + annotations.file
        let types = [labelColumn: CSVType.string, recordingColumn: .string]
        let frame = try TableFile.read(file, types: types)
        for (name, option) in [
            (labelColumn, "--label"), (recordingColumn, "--recording"), (annotations.startColumn, "--label-start-time"),
            (annotations.endColumn, "--label-end-time"),
        ] {
            try TableFile.require(name, in: frame, file, option: option)
        }
        let names = frame[recordingColumn].compactMap { $0 as? String }
        guard let first = names.first else { throw Failure("\(file) has no rows that name a recording") }
        let recording = path + "/" + first
        let samples = try TableFile.read(recording)
        try TableFile.require(annotations.timeStampColumn, in: samples, recording, option: "--time-stamp")
        let features =
            try features ?? sensors(of: samples, recording).filter { $0 != annotations.timeStampColumn }
        return Recordings(
            source: .directoryWithDataAndAnnotation(
                at: URL(fileURLWithPath: path),
                annotationFileName: annotations.file,
                timeStampColumn: annotations.timeStampColumn,
                labelStartTimeColumn: annotations.startColumn,
                labelEndTimeColumn: annotations.endColumn
            ),
            features: features,
            count: "\(frame.shape.rows) labelled times of \(Set(names).count) recordings"
        )
    }

    /// Files that are a recording each, joined to one table, and the number of those without rows.
    private func joined(_ files: [String], _ features: [String]) throws -> (DataFrame, empty: Int) {
        var empty = 0
        var sensors = features.map { Column<Double>(name: $0, capacity: 0) }
        var labels = Column<String>(name: labelColumn, capacity: 0)
        var recordings = Column<String>(name: recordingColumn, capacity: 0)
        for file in files {
            let frame = try table(file, features, hasLabels: true)
            if frame.shape.rows == 0 { empty += 1 }
            for (index, name) in features.enumerated() {
                for (row, value) in frame[name].enumerated() {
                    switch value {
                    case let value as Double: sensors[index].append(value)
                    case let value as Int: sensors[index].append(Double(value))
                    case nil:
                        throw Failure("\(file): row \(row + 2) has no value in '\(name)'; add it or remove the row")
                    case let value?: throw Failure("\(file): row \(row + 2) has '\(value)' in '\(name)', not a number")
                    }
                }
            }
            for value in frame[labelColumn] { labels.append(value.map { "\($0)" }) }
            recordings.append(contentsOf: [String](repeating: file, count: frame.shape.rows))
        }
        let frame = DataFrame(
            columns: sensors.map { $0.eraseToAnyColumn() } + [labels.eraseToAnyColumn()] + [
                recordings.eraseToAnyColumn()
            ]
        )
        return (frame, empty)
    }

    private func table(_ path: String, _ features: [String]?, hasLabels: Bool) throws -> DataFrame {
        let types = [labelColumn: CSVType.string, recordingColumn: .string]
        let frame = try TableFile.read(path, delimiter: delimiter, types: types)
        if hasLabels { try TableFile.require(labelColumn, in: frame, path, option: "--label") }
        for name in features ?? [] { try TableFile.require(name, in: frame, path) }
        return frame
    }

    /// The columns of numbers of the first file that has rows.
    private func sensors(of files: [String], hasLabels: Bool) throws -> [String] {
        for file in files {
            let frame = try table(file, nil, hasLabels: hasLabels)
            if frame.shape.rows > 0 { return try sensors(of: frame, file) }
        }
        throw Failure("'\(files[0])' and the files beside it have no rows to train on")
    }

    /// The columns of numbers.
    private func sensors(of frame: DataFrame, _ path: String) throws -> [String] {
        let names = frame.columns.filter { column in
            let type = column.wrappedElementType
            return column.name != labelColumn && column.name != recordingColumn
                && (type == Double.self || type == Int.self || type == Float.self)
        }.map(\.name)
        guard !names.isEmpty else {
            throw Failure(
                "\(path) has no columns of numbers to train on; its columns are "
                    + frame.columns.map(\.name).joined(separator: ", ")
            )
        }
        return names
    }
}
