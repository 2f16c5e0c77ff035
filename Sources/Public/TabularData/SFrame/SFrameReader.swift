import Foundation

/// Reads some columns and rows of a frame.
struct SFrameReader {
    private let columns: [SFrameArchive.Column]
    private let kinds: [SFrameKind]
    private let rows: Range<Int>

    init(_ archive: SFrameArchive, _ names: [String]?, _ rows: Range<Int>?) throws(SFrameReadingError) {
        if let names {
            var chosen: [SFrameArchive.Column] = []
            for name in names where !chosen.contains(where: { $0.name == name }) {
                guard let column = archive.columns.first(where: { $0.name == name }) else { throw .missingColumn(name) }
                chosen.append(column)
            }
            columns = chosen
        } else {
            columns = archive.columns
        }
        self.rows = rows ?? 0..<archive.rows
        guard self.rows.lowerBound >= 0, self.rows.upperBound <= archive.rows else {
            throw .unsupportedArchive("it has \(archive.rows) rows; rows \(self.rows) were requested")
        }
        var kinds: [SFrameKind] = []
        for column in columns {
            guard let kind = SFrameKind(rawValue: column.code), kind != .image, kind != .undefined else {
                throw .unsupportedType(column.code)
            }
            kinds.append(kind)
        }
        self.kinds = kinds
    }

    /// The approximate number of rows in a piece, so that several threads can share a column.
    private static let pieceRows = 1 << 16

    func frame() throws(SFrameReadingError) -> DataFrame {
        var files: [URL: SFrameDataFile] = [:]
        var pieces: [SFramePiece] = []
        for (position, column) in columns.enumerated() {
            try add(column, position, &pieces, &files)
        }
        let targets = kinds.map { SFrameTarget($0, rows.count) }
        let firsts = columns.indices.map { column in pieces.firstIndex { $0.column == column } ?? 0 }
        let results = Parallel.map(Array(pieces.indices)) { position in
            let piece = pieces[position]
            return Result { () throws(SFrameReadingError) in
                try SFrameFiller.fill(piece, targets[piece.column], arena: position - firsts[piece.column])
            }
        }
        var filled: [[SFrameFilled]] = columns.map { _ in [] }
        for (piece, result) in zip(pieces, results) {
            do throws(SFrameReadingError) {
                filled[piece.column].append(try result.get())
            } catch .badEncoding(let reason) {
                throw .badEncoding("column '\(columns[piece.column].name)': \(reason)")
            } catch { throw error }
        }
        var frame = DataFrame()
        for (position, column) in columns.enumerated() {
            frame.append(column: Self.column(column.name, kinds[position], targets[position], filled[position]))
        }
        return frame
    }

    /// Adds the blocks of a column that hold some of the rows.
    private func add(
        _ column: SFrameArchive.Column,
        _ position: Int,
        _ pieces: inout [SFramePiece],
        _ files: inout [URL: SFrameDataFile]
    ) throws(SFrameReadingError) {
        var piece = SFramePiece(column: position, kind: kinds[position], start: 0)
        var segmentStart = 0
        for segment in column.segments {
            let segmentRows = segmentStart..<segmentStart + segment.rows
            segmentStart = segmentRows.upperBound
            // Files none of whose rows are wanted are not opened.
            guard !segmentRows.clamped(to: rows).isEmpty else { continue }
            let file: SFrameDataFile
            if let open = files[segment.file] {
                file = open
            } else {
                file = try SFrameDataFile(segment.file)
                files[segment.file] = file
            }
            guard file.columns.indices.contains(segment.position) else {
                throw .badArchive(
                    "\(file.name) has no column number \(segment.position), as '\(column.name)' should be"
                )
            }
            let blocks = file.columns[segment.position]
            guard blocks.reduce(0, { $0 + $1.rows }) == segment.rows else {
                throw .badArchive("\(file.name) does not hold \(segment.rows) rows of '\(column.name)'")
            }
            var start = segmentRows.lowerBound
            for block in blocks {
                let blockRows = start..<start + block.rows
                start = blockRows.upperBound
                let requested = blockRows.clamped(to: rows)
                if requested.isEmpty { continue }
                let own = requested.lowerBound - blockRows.lowerBound..<requested.upperBound - blockRows.lowerBound
                piece.parts.append(SFramePiece.Part(file: file, position: block, rows: own))
                piece.count += own.count
                if piece.count >= Self.pieceRows {
                    pieces.append(piece)
                    piece = SFramePiece(column: position, kind: kinds[position], start: piece.start + piece.count)
                }
            }
        }
        if piece.count > 0 { pieces.append(piece) }
    }

    private static func column(
        _ name: String,
        _ kind: SFrameKind,
        _ target: SFrameTarget,
        _ filled: [SFrameFilled]
    ) -> AnyColumn {
        func marked<T>(_ buffer: PlainBuffer<T>) -> PlainBuffer<T> {
            guard filled.contains(where: { !$0.missing.isEmpty }) else { return buffer }
            let bits = buffer.makeValidity()
            for part in filled {
                for row in part.missing { bits[row >> 6] &= ~(1 << UInt64(row & 63)) }
                buffer.missing += part.missing.count
            }
            return buffer
        }
        switch target {
        case .integers(let buffer):
            return AnyColumn(Column<Int>(name: name, storage: .plain(marked(buffer))))
        case .floats(let buffer):
            return AnyColumn(Column<Double>(name: name, storage: .plain(marked(buffer))))
        case .strings(let buffer):
            let arenas = filled.compactMap(\.arena)
            let text = TextBuffer(views: marked(buffer), arenas: arenas)
            return AnyColumn(Column<String>(name: name, storage: .text(text)))
        case .none:
            guard let cells = makeSFrameCells(kind) else {
                preconditionFailure("columns of \(kind.plural) are refused before")
            }
            return cells.column(named: name, filled.compactMap(\.cells))
        }
    }
}
