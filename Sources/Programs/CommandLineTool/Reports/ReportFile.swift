import ArgumentParser
import MLDrawing
import MLFiles
import MLNumerics

/// A report as a file, in the format that its extension names.
enum ReportFile {
    private static let endings = [".html", ".htm", ".png", ".svg", ".pdf"]

    /// - Throws: `ValidationError` for another extension.
    static func validate(_ path: String?) throws {
        guard let path, !endings.contains(where: path.hasSuffix) else { return }
        throw ValidationError("--report takes a name that ends in \(endings.joined(separator: ", ")), not '\(path)'")
    }

    /// Writes the file, replacing an older one; missing folders are created.
    static func write(_ report: TrainingReport, to path: String) throws {
        let forms: [(String, Canvas.Form)] = [(".png", .png), (".svg", .svg), (".pdf", .pdf)]
        let form = forms.first { path.hasSuffix($0.0) }?.1
        let bytes = try form.map { try ReportPicture.bytes(report, $0) } ?? Array(try report.html().utf8)
        try failing { () throws(ModelError) in
            try FileAccess.makeFolder(FileAccess.folder(of: path))
            try FileAccess.write(bytes, to: path)
        }
    }
}
