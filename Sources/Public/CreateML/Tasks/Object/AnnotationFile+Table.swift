import Foundation
import TabularData

// CSV tables with a row for each object, or a row for each picture with its annotations as JSON.
extension AnnotationFile {
    /// The pictures of a table.
    func table(_ bytes: [UInt8], _ url: URL) throws -> [AnnotatedPicture] {
        let frame: DataFrame
        do { frame = try DataFrame(csvData: Data(bytes)) } catch {
            throw MLCreateError.io(reason: "\(url.path) is neither JSON nor a CSV table: \(error)")
        }
        let known = "a column 'image', and 'annotations', or 'label' with xmin, ymin, xmax, ymax or x, y, width, height"
        guard let image = frame.column(["image", "filename", "file", "path", "imagefilename"]) else {
            throw MLCreateError.io(reason: "\(url.path) has no column of images; it needs \(known)")
        }
        if let annotations = frame.column(["annotations", "annotation"]) {
            return try ObjectCells.pictures(frame, image, annotations, form) { path($0) }
        }
        guard let columns = BoxColumns(frame, image: image) else {
            throw MLCreateError.io(reason: "\(url.path) has no columns of boxes; it needs \(known)")
        }
        return try boxes(frame, columns, url)
    }

    /// The pictures of a table with a row for each object, in the order of their first rows.
    private func boxes(_ frame: DataFrame, _ columns: BoxColumns, _ url: URL) throws -> [AnnotatedPicture] {
        var result: [AnnotatedPicture] = []
        var positions: [String: Int] = [:]
        for row in 0..<frame.shape.rows {
            guard let name = ObjectCells.text(frame[columns.image][row]) else {
                throw MLCreateError.io(reason: "\(url.path): row \(row + 1) names no image")
            }
            let position = positions[name] ?? result.count
            if position == result.count {
                positions[name] = position
                var picture = AnnotatedPicture(path: path(name), form: columns.areCorners ? .corner : form)
                picture.size = columns.size(frame, row)
                result.append(picture)
            }
            // A row without a label is a picture without objects.
            guard let label = ObjectCells.text(frame[columns.label][row]) else { continue }
            if let object = columns.object(frame, row, label: label) {
                result[position].objects.append(object)
            } else {
                result[position].notes.append("row \(row + 1) has no box of four numbers")
            }
        }
        return result
    }
}

/// The columns of a table with a row for each object.
private struct BoxColumns {
    let image: String
    let label: String
    /// The four columns of a box.
    let numbers: [String]
    /// Whether these are two corners; otherwise a point and an extent.
    let areCorners: Bool
    /// The columns of the pictures' sizes.
    private let width: String?
    private let height: String?

    /// - Returns: `nil` if the table has no labels or no boxes.
    init?(_ frame: DataFrame, image: String) {
        let corners = ["xmin", "ymin", "xmax", "ymax"].compactMap { frame.column([$0]) }
        let extents = ["x", "y", "width", "height"].compactMap { frame.column([$0]) }
        areCorners = corners.count == 4
        numbers = areCorners ? corners : extents
        guard let label = frame.column(["label", "class", "name"]), numbers.count == 4 else { return nil }
        self.image = image
        self.label = label
        (width, height) = (frame.column(["width"]), frame.column(["height"]))
    }

    /// The size of a row's picture, in pixels; `nil` if the table does not state it.
    func size(_ frame: DataFrame, _ row: Int) -> AnnotatedPicture.Size? {
        guard areCorners, let width, let height, let wide = ObjectCells.number(frame[width][row]),
            let high = ObjectCells.number(frame[height][row]), let wide = Int(exactly: wide),
            let high = Int(exactly: high), wide > 0, high > 0
        else { return nil }
        return .init(width: wide, height: high)
    }

    /// The object of a row; `nil` if it has no box of four numbers.
    func object(_ frame: DataFrame, _ row: Int, label: String) -> AnnotatedPicture.Object? {
        let box = numbers.compactMap { ObjectCells.number(frame[$0][row]) }
        guard box.count == 4 else { return nil }
        let (x, y) = (box[0], box[1])
        return areCorners
            ? .init(label: label, x: x, y: y, width: box[2] - x, height: box[3] - y)
            : .init(label: label, x: x, y: y, width: box[2], height: box[3])
    }
}

extension DataFrame {
    /// The first column with one of some names, in any letter case.
    fileprivate func column(_ names: [String]) -> String? {
        columns.map(\.name).first { names.contains($0.lowercased()) }
    }
}
