import CreateML
import Foundation
import MLDetectionTraining
import MLNumerics
import TabularData
import Testing

@Suite struct AnnotationTests {
    /// The first annotation of each picture, as the data source reads it.
    private static func first(_ source: MLObjectDetector.DataSource) throws -> [String] {
        let frame = try source.gatherAnnotatedFileNames()
        #expect(frame.columns.map(\.name) == ["image", "annotations"])
        return (0..<frame.shape.rows).map { row in
            let name = (frame["image"][row] as? String).map { URL(fileURLWithPath: $0).lastPathComponent } ?? ""
            return name + " " + (frame["annotations"][row] as? String ?? "")
        }
    }

    private static let box = #"[{"coordinates":{"height":20,"width":10,"x":5,"y":6},"label":"cat"}]"#

    @Test func `Create ML's JSON, COCO's, tables and Pascal VOC's XML give the same objects`() throws {
        let folder = try TemporaryFolder()
        let pictures = folder.file("pictures")
        try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
        func source(_ name: String, _ text: String) throws -> MLObjectDetector.DataSource {
            let file = folder.file(name)
            try Data(text.utf8).write(to: file)
            return .directoryWithImages(at: pictures, annotationFile: file)
        }
        let expected = ["a.png " + Self.box, "b.png []"]
        let own = try source(
            "own.json",
            #"[{"image":"a.png","annotations":\#(Self.box)},{"image":"b.png","annotations":[]}]"#
        )
        #expect(try Self.first(own) == expected)
        let coco = try source(
            "coco.json",
            """
            {"images":[{"id":1,"file_name":"a.png","width":50,"height":40},{"id":2,"file_name":"b.png"}],
             "categories":[{"id":7,"name":"cat"}],
             "annotations":[{"image_id":1,"category_id":7,"bbox":[5,6,10,20]},
                            {"image_id":1,"category_id":7,"bbox":[0,0,9,9],"iscrowd":1}]}
            """
        )
        #expect(try Self.first(coco) == expected)
        let corners = try source(
            "corners.csv",
            "filename,width,height,class,xmin,ymin,xmax,ymax\na.png,50,40,cat,5,6,15,26\nb.png,,,,,,,\n"
        )
        #expect(try Self.first(corners) == expected)
        let extents = try source("extents.csv", "image,label,x,y,width,height\na.png,cat,5,6,10,20\nb.png,,,,,\n")
        #expect(try Self.first(extents) == expected)
        let cell = Self.box.replacingOccurrences(of: "\"", with: "\"\"")
        let cells = try source("cells.csv", "image,annotations\na.png,\"\(cell)\"\nb.png,[]\n")
        #expect(try Self.first(cells) == expected)

        let xml = """
            <?xml version="1.0"?><!-- a comment --><annotation verified="yes"><filename>a.png</filename>
            <size><width>50</width><height>40</height><depth>3</depth></size>
            <object><name>cat</name><bndbox><xmin>5</xmin><ymin>6</ymin><xmax>15</xmax><ymax>26</ymax></bndbox></object>
            </annotation>
            """
        let voc = folder.file("voc")
        try FileManager.default.createDirectory(at: voc, withIntermediateDirectories: true)
        try Data(xml.utf8).write(to: voc.appendingPathComponent("a.xml"))
        #expect(try Self.first(.directoryWithImages(at: pictures, annotationFile: voc)) == [expected[0]])

        // A data table of the same, and back.
        let table = try own.imagesWithObjectAnnotations()
        let again = MLObjectDetector.DataSource.table(table, imageColumn: "image", annotationColumn: "annotations")
        #expect(try Self.first(again).map { $0.prefix(6) } == expected.map { $0.prefix(6) })
        let split = try own.stratifiedSplit(proportions: [0.5, 0.5], seed: 1, annotationColumn: "annotations")
        #expect(split.columnNames.contains("partition"))
    }

    @Test(arguments: [
        "", "{", "[1]", #"{"images":1,"annotations":[]}"#, "<annotation>", "<annotation></name>", "a,b\n1,2\n",
        #"[{"annotations":[]}]"#, "<a><![CDATA[", "image\nx.png\n",
    ])
    func `Files that hold no annotations are errors that name the file`(text: String) throws {
        let folder = try TemporaryFolder()
        let file = folder.file("annotations")
        try Data(text.utf8).write(to: file)
        let source = MLObjectDetector.DataSource.directoryWithImages(
            at: file.deletingLastPathComponent(),
            annotationFile: file
        )
        let error = #expect(throws: MLCreateError.self) { try source.gatherAnnotatedFileNames() }
        #expect(error.map { "\($0)" }?.contains(file.path) ?? false)
    }

    @Test func `Average precision is what an independent computation gives`() {
        // Pictures with objects and detections near them, from one generator; the figures are those of a computation with
        // NumPy by Turi Create's definition.
        var source = SplitMix64(seed: 7)
        func unit() -> Double { Double(source.next() >> 11) * 0x1p-53 }
        var pictures: [AveragePrecision.Image] = []
        for _ in 0..<40 {
            var picture = AveragePrecision.Image(objects: [], detections: [])
            for _ in 0..<3 {
                let (x, y, size) = (unit() * 0.7, unit() * 0.7, 0.1 + 0.2 * unit())
                let label = unit() < 0.6 ? 0 : 1
                let box = DetectionBox(left: x, top: y, right: x + size, bottom: y + size)
                picture.objects.append(DetectionObject(label: label, box: box))
                for _ in 0..<2 where unit() < 0.8 {
                    let (dx, dy, factor) = (0.1 * unit() * size, 0.3 * unit() * size, 0.8 + 0.4 * unit())
                    let moved = DetectionBox(
                        left: x + dx,
                        top: y + dy,
                        right: x + dx + size * factor,
                        bottom: y + dy + size * factor
                    )
                    let guess = unit() < 0.85 ? label : 1 - label
                    picture.detections.append(
                        .init(object: DetectionObject(label: guess, box: moved), confidence: unit())
                    )
                }
            }
            pictures.append(picture)
        }
        let found = AveragePrecision(pictures, labelCount: 3)
        let half = found.half.map { $0 ?? -1 }
        let varied = found.varied.map { $0 ?? -1 }
        for (value, expected) in zip(
            half + varied,
            [0.5929553090925748, 0.578833670466886, -1, 0.18874159447436595, 0.1757043476276798, -1]
        ) {
            #expect(abs(value - expected) < 1e-9)
        }
    }
}
