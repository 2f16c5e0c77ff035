import Foundation
import TabularData

/// Annotations in cells of tables: lists of objects with a label and coordinates, or the same as JSON text.
enum ObjectCells {
    static func text(_ value: Any?) -> String? {
        switch value {
        case nil, is NSNull: nil
        case let text as String: text.isEmpty ? nil : text
        case let url as URL: url.path
        case let value?: "\(value)"
        }
    }

    static func number(_ value: Any?) -> Double? {
        switch value {
        case let number as Double: number
        case let number as Int: Double(number)
        case let number as NSNumber: number.doubleValue
        case let text as String: Double(text)
        default: nil
        }
    }

    /// The pictures of a table.
    ///
    /// - Parameters:
    ///   - frame: The table.
    ///   - image: The column of the pictures' names.
    ///   - annotations: The column of their annotations.
    ///   - form: The form of boxes.
    ///   - path: The path of a picture's name.
    /// - Returns: A picture for each row.
    /// - Throws: `MLCreateError` for columns that are missing, and cells that are of another type.
    static func pictures(
        _ frame: DataFrame,
        _ image: String,
        _ annotations: String,
        _ form: BoxForm,
        _ path: (String) -> String = { $0 }
    ) throws -> [AnnotatedPicture] {
        let names = frame.columns.map(\.name)
        for column in [image, annotations] where !names.contains(column) {
            throw MLCreateError.generic(
                reason: "the table has no column '\(column)'; it has \(names.joined(separator: ", "))"
            )
        }
        return try (0..<frame.shape.rows).map { row in
            guard let name = text(frame[image][row]) else {
                throw MLCreateError.type(reason: "row \(row) of the column '\(image)' names no image")
            }
            var picture = AnnotatedPicture(path: path(name), form: form)
            var cell = frame[annotations][row]
            if let text = cell as? String, !text.isEmpty {
                do { cell = try JSONSerialization.jsonObject(with: Data(text.utf8)) } catch {
                    picture.notes.append("its annotations are not JSON")
                    cell = nil
                }
            }
            add(cell ?? [Any](), to: &picture)
            return picture
        }
    }

    /// Adds the objects of a cell to a picture; what cannot be used becomes a note.
    static func add(_ value: Any, to picture: inout AnnotatedPicture) {
        if let objects = value as? [MLObjectDetector.ObjectAnnotation] {
            for object in objects {
                let box = object.boundingBox
                picture.objects.append(
                    .init(
                        label: object.label,
                        x: box.origin.x,
                        y: box.origin.y,
                        width: box.size.width,
                        height: box.size.height
                    )
                )
            }
            return
        }
        let value = plain(value)
        guard let list = value as? [Any] ?? (value is [String: Any] ? [value] : nil) else {
            picture.notes.append("its annotations are not a list of objects")
            return
        }
        for (index, element) in list.enumerated() {
            guard let object = element as? [String: Any], let label = text(object["label"]),
                let position = object["coordinates"] as? [String: Any],
                case let numbers = ["x", "y", "width", "height"].compactMap({ number(position[$0]) }),
                numbers.count == 4
            else {
                picture.notes.append("annotation \(index) has no label, or no coordinates x, y, width and height")
                continue
            }
            picture.objects.append(
                .init(label: label, x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
            )
        }
    }

    /// Values of a data table as those that JSON has.
    private static func plain(_ value: Any) -> Any {
        switch value {
        case let value as MLDataValue:
            switch value {
            case .int(let number): return number
            case .double(let number): return number
            case .string(let text): return text
            case .sequence(let sequence): return sequence.map { plain($0) }
            case .dictionary(let dictionary): return plain(dictionary)
            default: return NSNull()
            }
        case let sequence as MLDataValue.SequenceType: return sequence.map { plain($0) }
        case let dictionary as MLDataValue.DictionaryType:
            var result: [String: Any] = [:]
            for (key, value) in dictionary { if let key = key.stringValue { result[key] = plain(value) } }
            return result
        case let list as [Any]: return list.map { plain($0) }
        case let object as [String: Any]: return object.mapValues { plain($0) }
        default: return value
        }
    }

    /// The objects of a picture as text for a cell: Create ML's JSON.
    static func json(_ objects: [AnnotatedPicture.Object]) throws -> String {
        let list = objects.map { object -> [String: Any] in
            [
                "label": object.label,
                "coordinates": ["x": object.x, "y": object.y, "width": object.width, "height": object.height],
            ]
        }
        return String(
            decoding: try JSONSerialization.data(withJSONObject: list, options: [.sortedKeys]),
            as: UTF8.self
        )
    }
}
