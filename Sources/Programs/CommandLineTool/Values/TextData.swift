import CreateML
import Foundation
import TabularData

/// Labelled texts and sentences on the command line.
struct TextData {
    typealias Sentence = (tokens: [String], labels: [String])

    /// The name of the text column.
    let textColumn: String
    let labelColumn: String
    /// The column that identifies the sentence of a row's token; `nil` when a row is a text or a sentence.
    private let sentenceColumn: String?
    private let delimiter: String?
    private let isOfTagger: Bool

    /// Chooses the columns of a table of texts.
    ///
    /// - Parameters:
    ///   - isOfTagger: Whether tokens are labelled rather than texts.
    ///   - text: The column's name; by default "text", for arrays "tokens", for single tokens "token".
    ///   - label: The column's name; by default "label", for arrays "labels".
    ///   - sentence: The name of the column that numbers the sentences of single tokens; `nil` when there is none.
    ///   - cells: The delimiter between cells.
    init(isOfTagger: Bool, text: String?, label: String?, sentence: String?, _ cells: DelimiterOption) {
        let isOfArrays = isOfTagger && sentence == nil
        textColumn = text ?? (isOfArrays ? "tokens" : isOfTagger ? "token" : "text")
        labelColumn = label ?? (isOfArrays ? "labels" : "label")
        sentenceColumn = sentence
        self.isOfTagger = isOfTagger
        delimiter = cells.delimiter
    }

    /// Labelled texts as a table with the two columns.
    ///
    /// - Parameter path: A table, as a file or an SFrame, or a folder with a folder of UTF-8 texts for each label.
    /// - Returns: The table.
    /// - Throws: `Failure` when the path cannot be read, or holds no texts.
    func texts(_ path: String) throws -> DataFrame {
        guard TableFile.isFolderOfFiles(path) else {
            let frame = try table(path)
            guard frame.shape.rows > 0 else { throw Failure("\(path) has no rows") }
            return frame
        }
        let folders = try MLTextClassifier.DataSource.labeledDirectories(at: URL(fileURLWithPath: path)).labeledTexts()
        var (texts, labels): ([String], [String]) = ([], [])
        for (label, contents) in folders.sorted(by: { $0.key < $1.key }) {
            texts += contents
            labels += [String](repeating: label, count: contents.count)
        }
        guard !texts.isEmpty else {
            throw Failure("the folders of '\(path)' are empty; put the texts of each label into the folder of its name")
        }
        return DataFrame(columns: [
            Column<String>(name: textColumn, contents: texts).eraseToAnyColumn(),
            Column<String>(name: labelColumn, contents: labels).eraseToAnyColumn(),
        ])
    }

    /// Sentences with labelled tokens: one sentence per row (arrays, as in JSON files and SFrames), or one token per
    /// row.
    func sentences(_ path: String) throws -> [Sentence] {
        let frame = try table(path)
        guard let sentenceColumn else {
            guard path.hasSuffix(".json") || TableFile.isSFrame(path) else {
                throw Failure(
                    "\(path): a tagger learns from a .json file or an SFrame whose rows have arrays of tokens and labels, "
                        + "or from a table with a token in each row and a column --sentence"
                )
            }
            return try MLWordTagger.sequences(frame, textColumn, labelColumn)
        }
        func cells(_ name: String) throws -> [String] {
            try frame[name].enumerated().map { row, value in
                guard let value else {
                    throw Failure(
                        "\(path): row \(row + 2) has no value in '\(name)'; add it or remove the row"
                    )
                }
                return "\(value)"
            }
        }
        let (tokens, labels) = (try cells(textColumn), try cells(labelColumn))
        var result: [Sentence] = []
        var last: String?
        for (row, sentence) in try cells(sentenceColumn).enumerated() {
            if sentence != last { result.append(([], [])) }
            last = sentence
            result[result.count - 1].tokens.append(tokens[row])
            result[result.count - 1].labels.append(labels[row])
        }
        return result
    }

    private func table(_ path: String) throws -> DataFrame {
        let columns: [(name: String, option: String)] =
            [(textColumn, "--text"), (labelColumn, "--label")] + (sentenceColumn.map { [($0, "--sentence")] } ?? [])
        // Texts such as NA or 12 must stay texts.
        let isOfArrays = isOfTagger && sentenceColumn == nil
        let types = Dictionary(isOfArrays ? [] : columns.map { ($0.name, CSVType.string) }) { first, _ in first }
        let frame = try TableFile.read(path, delimiter: delimiter, types: types, missing: [""])
        for (name, option) in columns { try TableFile.require(name, in: frame, path, option: option) }
        return frame
    }
}
