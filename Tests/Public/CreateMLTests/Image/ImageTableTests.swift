import Foundation
import TabularData
import Testing

import CreateML

/// Sources of labelled pictures that are tables.
@Suite struct ImageTableTests {
    private func frame(_ files: [Any?], _ labels: [Any?]) -> DataFrame {
        var frame = DataFrame()
        frame.append(column: Column<Any>(name: "file", contents: files))
        frame.append(column: Column<Any>(name: "label", contents: labels))
        return frame
    }

    @Test func `Rows become files by label`() throws {
        let folder = URL(fileURLWithPath: "/pictures/", isDirectory: true)
        let url = URL(fileURLWithPath: "/other/c.png")
        let source = try MLImageClassifier.DataSource.frame(
            frame(["a.png", "/b.png", url, "d.png"], ["cat", "dog", "cat", 7]),
            imageColumn: "file",
            labelColumn: "label",
            relativeTo: folder
        )
        let files = try source.labeledImages().mapValues { $0.map(\.path) }
        #expect(files == ["cat": ["/pictures/a.png", "/other/c.png"], "dog": ["/b.png"], "7": ["/pictures/d.png"]])

        let table = try MLDataTable(dictionary: ["file": ["/a.png", "/b.png"], "label": ["x", "y"]])
        let other = try MLImageClassifier.DataSource.table(table, imageColumn: "file", labelColumn: "label")
        #expect(try other.labeledImages().mapValues { $0.map(\.path) } == ["x": ["/a.png"], "y": ["/b.png"]])
    }

    @Test func `Missing columns and cells are named`() {
        func failure(_ frame: DataFrame, _ image: String = "file", _ label: String = "label") -> String {
            do {
                let source = try MLImageClassifier.DataSource.frame(frame, imageColumn: image, labelColumn: label)
                return "\(source)"
            } catch { return "\(error)" }
        }
        let whole = frame(["a.png"], ["cat"])
        #expect(failure(whole, "path").contains("the table has no column 'path'"))
        #expect(failure(whole, "file", "kind").contains("the table has no column 'kind'"))
        #expect(failure(frame([], [])).contains("has no rows"))
        #expect(failure(frame(["a.png", nil], ["cat", "dog"])).contains("row 1 of the column 'file' is empty"))
        #expect(failure(frame(["a.png", ""], ["cat", "dog"])).contains("row 1 of the column 'file' is empty"))
        #expect(failure(frame(["a.png", "b.png"], ["cat", nil])).contains("row 1 of the column 'label'"))
        #expect(failure(frame([1.5], ["cat"])).contains("row 0 of the column 'file' is '1.5'"))
    }
}
