import CreateML
import Foundation
import ImageIO
import MLImages

/// The pictures of a report: those that were predicted wrongly, and the files that could not be used.
struct PicturesPart {
    /// The pictures on which it was measured, as in "validation".
    let rows: String
    let misclassified: [MLImageClassifier.MisclassifiedImage]
    let skipped: [MLImageClassifier.SkippedImage]

    /// The maximum numbers of pictures that are listed in text, and shown on a page.
    private static let (maximumLineCount, maximumPictureCount) = (10, 60)
    private static let thumbnailSize = 160.0

    var text: [String] {
        var blocks: [String] = []
        if !misclassified.isEmpty {
            var table = Table(rightAligned: [0])
            for image in misclassified.prefix(Self.maximumLineCount) {
                table.add(
                    TrainingReport.percent(image.confidence),
                    "\(image.label) → \(image.prediction)",
                    image.url.path
                )
            }
            let title = "misclassified images (\(rows)): \(misclassified.count), the most confident first"
            blocks.append(title + "\n" + table.text())
        }
        if !skipped.isEmpty {
            let lines = skipped.prefix(Self.maximumLineCount).map { "  \($0.url.path): \($0.reason)" }
            let remaining = skipped.count > lines.count ? ["  and \(skipped.count - lines.count) others"] : []
            blocks.append((["files left out: \(skipped.count)"] + lines + remaining).joined(separator: "\n"))
        }
        return blocks
    }

    var json: [String: Any] {
        [
            "misclassified": misclassified.map {
                [
                    "file": $0.url.path, "label": $0.label, "prediction": $0.prediction, "confidence": $0.confidence,
                ] as [String: Any]
            },
            "skipped": skipped.map { ["file": $0.url.path, "label": $0.label, "reason": $0.reason] },
        ]
    }

    /// The pictures with their labels, and the list of files that were left out.
    var html: [String] {
        var body: [String] = []
        if !misclassified.isEmpty {
            body.append("<h2>Misclassified images (\(rows)): \(misclassified.count)</h2>")
            body.append(#"<div class="pictures">"#)
            for image in misclassified.prefix(Self.maximumPictureCount) {
                let name = HTMLText.escaped(image.url.lastPathComponent)
                let labels =
                    "\(HTMLText.escaped(image.label)) → \(HTMLText.escaped(image.prediction)), "
                    + TrainingReport.percent(image.confidence)
                let source = Self.thumbnail(image.url).map { "data:image/jpeg;base64,\($0)" } ?? ""
                body.append(
                    #"<figure><img src="\#(source)" alt="\#(name)"><figcaption>\#(labels)<br>\#(name)</figcaption></figure>"#
                )
            }
            body.append("</div>")
        }
        if !skipped.isEmpty {
            body.append("<h2>Files left out: \(skipped.count)</h2>")
            body.append(
                HTMLText.table([["file", "label", "reason"]] + skipped.map { [$0.url.path, $0.label, $0.reason] })
            )
        }
        return body
    }

    /// The picture, upright and small, as a JPEG file in base64; `nil` if it cannot be read any more.
    private static func thumbnail(_ url: URL) -> String? {
        guard let data = try? Data(contentsOf: url), let file = try? ImageFile(data), let bitmap = try? file.bitmap()
        else { return nil }
        let upright = bitmap.upright(fromExifOrientation: file.exifOrientation)
        let factor = min(thumbnailSize / Double(max(upright.width, upright.height)), 1)
        let small = upright.resampled(
            width: max(Int((Double(upright.width) * factor).rounded()), 1),
            height: max(Int((Double(upright.height) * factor).rounded()), 1)
        )
        return (try? ImageEncoder.jpeg(small, quality: 0.8))?.base64EncodedString()
    }
}
