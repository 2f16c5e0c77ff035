import CTabular
import Foundation

/// Codes of strings by their bytes.
///
/// The strings stay in the column where they first appeared. Unchecked: written by `encode` only, before any other
/// thread sees the table.
final class StringInterner: @unchecked Sendable {
    private var table = ctab_codes()

    deinit { ctab_codes_free(&table) }

    /// The row where each code first appeared.
    var firstRows: [UInt32] { Array(UnsafeBufferPointer(start: table.first_rows, count: table.count)) }

    /// The code of missing strings, or `missingRow` when none is missing.
    var missingCode: UInt32 { table.missing }

    /// Assigns codes to the strings of an empty table's first column, and writes them unless `codes` is nil.
    ///
    /// False, without any codes, when equal strings may have different bytes, so that bytes do not decide equality.
    func encode(_ text: TextBuffer, _ rows: RowSelection, into codes: UnsafeMutablePointer<UInt32>?) -> Bool {
        let result = text.withStrings(rows) { strings in
            var strings = strings
            return ctab_encode(&strings, &table, codes)
        }
        require(result != CTAB_NO_MEMORY, "TabularData: no memory for a table of \(rows.count) strings")
        return result == CTAB_ENCODED
    }

    func find(
        _ text: TextBuffer,
        _ rows: RowSelection,
        among known: TextBuffer,
        into codes: UnsafeMutablePointer<UInt32>
    ) {
        text.withStrings(rows) { strings in
            known.withStrings(.range(0..<0)) { known in
                var (strings, known) = (strings, known)
                ctab_find(&strings, &table, &known, codes)
            }
        }
    }
}

extension TextBuffer {
    /// Calls `body` with rows of the buffer in the form that the C functions take.
    func withStrings<R>(_ rows: RowSelection, _ body: (ctab_strings) -> R) -> R {
        let arenas: [UnsafePointer<UInt8>?] = self.arenas.map { UnsafePointer($0.bytes) }
        defer { withExtendedLifetime(self) {} }
        return arenas.withUnsafeBufferPointer { arenas in
            var strings = ctab_strings()
            strings.views = UnsafeRawPointer(views.values).assumingMemoryBound(to: ctab_view.self)
            strings.arenas = arenas.baseAddress
            strings.validity = views.missing > 0 ? views.validity.map { UnsafePointer($0) } : nil
            switch rows {
            case .range(let range):
                strings.start = range.lowerBound
                strings.count = range.count
                return body(strings)
            case .rows(let list):
                return list.withUnsafeBufferPointer { list in
                    strings.rows = list.baseAddress
                    strings.count = list.count
                    return body(strings)
                }
            }
        }
    }
}

extension TextBuffer {
    /// Whether equal strings may have different bytes, because a character is at or above U+0300.
    func needsNormalisation(_ selection: RowSelection) -> Bool {
        withRows { text in
            var answer = false
            selection.forEachPlace { _, row in
                let view = text.views[row]
                if view.isShort {
                    if (view.head >> 32 | view.tail) & 0x8080_8080_8080_8080 == 0 || answer { return }
                    answer = withBytes(row) { bytes in bytes.contains { $0 >= 0xCC } }
                } else if !answer {
                    answer = ctab_has_byte_above(text.long(view), view.count, 0xCB) == 1
                }
            }
            return answer
        }
    }
}
