import CreateML
import Foundation
import ImageIO
import MLDrawing
import MLImages

/// The evaluation of a detector: the average precision of each label, pictures with what was right and wrong, and what
/// was left out.
struct ObjectsPart {
    /// The pictures on which it was measured, as in "validation".
    let rows: String
    let metrics: MLObjectDetectorMetrics
    let pictures: [EvaluatedPicture]
    let skipped: [MLObjectDetector.SkippedImage]

    /// The maximum numbers of pictures that are listed in text, and shown on a page.
    private static let (maximumLineCount, maximumPictureCount) = (10, 40)
    private static let pictureSide = 320.0

    /// The pictures with the most errors first.
    private var worst: [EvaluatedPicture] {
        pictures.enumerated().filter { $1.errorCount > 0 }
            .sorted { $0.1.errorCount == $1.1.errorCount ? $0.0 < $1.0 : $0.1.errorCount > $1.1.errorCount }
            .map(\.1)
    }

    private var labelRows: [[String]] {
        let header = ["average precision (\(rows))", "IoU 0.5", "IoU 0.5–0.95", "objects", "found", "wrong"]
        return [header]
            + metrics.averagePrecision.IoU50.keys.sorted().map { label in
                let objects = pictures.flatMap(\.objects).filter { $0.label == label }
                let wrong = pictures.flatMap(\.detections).count { $0.label == label && !$0.isRight }
                return [
                    label, TrainingReport.percent(metrics.averagePrecision.IoU50[label]),
                    TrainingReport.percent(metrics.averagePrecision.variedIoU[label]), "\(objects.count)",
                    "\(objects.count(where: \.isRight))", "\(wrong)",
                ]
            }
    }

    private var skippedTitle: String {
        let left = skipped.count { !$0.isUsed }
        return "left out: \(left) images, and objects of \(skipped.count - left) others"
    }

    var text: [String] {
        var blocks = [TrainingReport.aligned(labelRows)]
        let worst = worst
        if !worst.isEmpty {
            var table = Table(rightAligned: [0, 1])
            table.add("missed", "wrong", "")
            for picture in worst.prefix(Self.maximumLineCount) {
                table.add(
                    "\(picture.objects.count { !$0.isRight })",
                    "\(picture.detections.count { !$0.isRight })",
                    picture.url.path
                )
            }
            blocks.append("images with errors (\(rows)): \(worst.count) of \(pictures.count)\n" + table.text())
        }
        if !skipped.isEmpty {
            let lines = skipped.prefix(Self.maximumLineCount).map { "  \($0.url.path): \($0.reason)" }
            let remaining = skipped.count > lines.count ? ["  and \(skipped.count - lines.count) others"] : []
            blocks.append(([skippedTitle] + lines + remaining).joined(separator: "\n"))
        }
        return blocks
    }

    var json: [String: Any] {
        var labels: [String: Any] = [:]
        for (label, value) in metrics.averagePrecision.IoU50 {
            labels[label] = ["iou50": value, "varied": metrics.averagePrecision.variedIoU[label] ?? 0]
        }
        return [
            "averagePrecision": labels,
            "wrong": worst.map {
                [
                    "file": $0.url.path, "missed": $0.objects.count { !$0.isRight },
                    "wrong": $0.detections.count { !$0.isRight },
                ] as [String: Any]
            },
            "skipped": skipped.map {
                ["file": $0.url.path, "reason": $0.reason, "used": $0.isUsed] as [String: Any]
            },
        ]
    }

    /// The table of labels, pictures with boxes (green: right, red: wrong, purple: missed), and what was left out.
    var html: [String] {
        var body = ["<h2>Labels</h2>", HTMLText.table(labelRows)]
        let worst = worst.prefix(Self.maximumPictureCount * 3 / 4)
        let good = pictures.filter { $0.errorCount == 0 && !$0.objects.isEmpty }
            .prefix(Self.maximumPictureCount - min(worst.count, Self.maximumPictureCount * 3 / 4))
        for (title, list) in [("Images with errors", Array(worst)), ("Images without errors", Array(good))]
        where !list.isEmpty {
            body.append("<h2>\(title) (\(HTMLText.escaped(rows))): green found, red wrong, purple missed</h2>")
            body.append(#"<div class="pictures">"#)
            for picture in list {
                let name = HTMLText.escaped(picture.url.lastPathComponent)
                let source = Self.drawn(picture).map { "data:image/jpeg;base64,\($0)" } ?? ""
                body.append(
                    #"<figure style="width: 20rem"><img src="\#(source)" alt="\#(name)"><figcaption>\#(name)</figcaption></figure>"#
                )
            }
            body.append("</div>")
        }
        if !skipped.isEmpty {
            body.append("<h2>\(skippedTitle)</h2>")
            body.append(HTMLText.table([["file", "reason"]] + skipped.map { [$0.url.path, $0.reason] }))
        }
        return body
    }

    /// The picture with boxes, upright and small, as a JPEG file in base64; `nil` if it cannot be read any more.
    private static func drawn(_ evaluated: EvaluatedPicture) -> String? {
        guard let data = try? Data(contentsOf: evaluated.url), let file = try? ImageFile(data),
            let bitmap = try? file.bitmap()
        else { return nil }
        let upright = bitmap.upright(fromExifOrientation: file.exifOrientation)
        let factor = min(pictureSide / Double(max(upright.width, upright.height)), 1)
        var drawing = BoxDrawing(
            on: upright.resampled(
                width: max(Int((Double(upright.width) * factor).rounded()), 1),
                height: max(Int((Double(upright.height) * factor).rounded()), 1)
            )
        )
        let red = Colour(0.85, 0.1, 0.1)
        let marks =
            evaluated.objects.filter { !$0.isRight }.map { BoxDrawing.Mark(box: $0.box, text: "", colour: .purple) }
            + evaluated.detections.map {
                BoxDrawing.Mark(box: $0.box, text: "", colour: $0.isRight ? .green : red)
            }
        // Without text nothing can fail.
        guard (try? drawing.draw(marks)) != nil else { return nil }
        return (try? ImageEncoder.jpeg(drawing.picture, quality: 0.85))?.base64EncodedString()
    }
}

extension TrainingReport {
    /// Adds the metrics of a detector.
    ///
    /// - Parameters:
    ///   - training: The metrics on the training data; `nil` when the model was not trained in this run.
    ///   - validation: The metrics on the validation data.
    mutating func add(training: MLObjectDetectorMetrics?, validation: MLObjectDetectorMetrics) {
        func values(_ metrics: MLObjectDetectorMetrics?) -> (variedIoU: Double, IoU50: Double)? {
            metrics.flatMap { $0.isValid ? $0.meanAveragePrecision : nil }
        }
        let (learned, held) = (values(training), values(validation))
        scores.append(
            Score(
                name: "mean average precision, IoU 0.5",
                key: "meanAveragePrecision50",
                training: learned?.IoU50,
                validation: held?.IoU50,
                isShare: true
            )
        )
        scores.append(
            Score(
                name: "mean average precision, IoU 0.5–0.95",
                key: "meanAveragePrecision",
                training: learned?.variedIoU,
                validation: held?.variedIoU,
                isShare: true
            )
        )
    }
}
