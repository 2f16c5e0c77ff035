import Foundation

extension TrainingReport {
    /// A self-contained HTML page.
    func html() throws -> String {
        var body = ["<h1>\(HTMLText.escaped(title))</h1>"]
        if !facts.isEmpty {
            body.append("<dl>")
            for (name, value) in facts {
                body.append("<dt>\(HTMLText.escaped(name))</dt><dd>\(HTMLText.escaped(value))</dd>")
            }
            body.append("</dl>")
        }
        if let scoreRows {
            let hasHead = scores.contains { $0.training != nil }
            body += ["<h2>Scores</h2>", HTMLText.table(hasHead ? scoreRows : [["", "value"]] + scoreRows)]
        }
        if let candidates {
            body += [
                "<h2>Algorithms tried (\(HTMLText.escaped(candidates.rows)); chosen in bold)</h2>",
                HTMLText.table(candidates.table, marked: candidates.chosenRow),
            ]
        }
        let confusionDrawing = confusion.flatMap { $0.hasNames ? nil : $0.drawing }
        let drawings =
            curveDrawings + (regression?.drawings ?? []) + [importance?.drawing, confusionDrawing].compactMap { $0 }
        if !drawings.isEmpty { body.append(#"<div class="drawings">"#) }
        for drawing in drawings {
            // A separate image: its elements' ids must not clash with others on the page.
            let data = Data(try drawing.svg()).base64EncodedString()
            body.append(#"<img src="data:image/svg+xml;base64,\#(data)" alt="\#(HTMLText.escaped(drawing.title))">"#)
        }
        if !drawings.isEmpty { body.append("</div>") }
        if let confusion { body += confusion.html }
        if let pictures { body += pictures.html }
        if let objects { body += objects.html }
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>\(HTMLText.escaped(title))</title>
            <style>
            body { font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
            h1 { font-size: 1.5rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
            table { border-collapse: collapse; display: block; overflow-x: auto; }
            td, th { padding: .2rem .7rem; border-bottom: 1px solid #ddd; text-align: right; unicode-bidi: isolate; }
            td:first-child, th:first-child { text-align: left; overflow-wrap: anywhere; }
            tr.marked { font-weight: 600; }
            dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; }
            dt { color: #666; } dd { margin: 0; overflow-wrap: anywhere; unicode-bidi: isolate; }
            .drawings { display: flex; flex-wrap: wrap; gap: 2rem; margin: 2rem 0; } img { max-width: 100%; height: auto; }
            .pictures { display: flex; flex-wrap: wrap; gap: 1rem; } figure { margin: 0; width: 10rem; }
            </style>
            </head>
            <body>
            \(body.joined(separator: "\n"))
            </body>
            </html>

            """
    }
}
