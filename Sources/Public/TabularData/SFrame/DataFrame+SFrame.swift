public import Foundation

extension DataFrame {
    /// The rows of an SFrame: a directory that Turi Create or Create ML wrote (see Documentation/SFrame.md).
    ///
    /// Integers are `Int`, floats `Double`, strings `String`, arrays `[Double]`, lists `[Any?]`, dictionaries
    /// `[AnyHashable: Any?]`, datetimes `Date` (their time zones are not kept) and arrays of several dimensions
    /// `ShapedData<Double>`; what lies in lists and dictionaries has these types, too.
    ///
    /// - Parameters:
    ///   - columns: the columns to read, in that order; all without.  Data of others is not looked at.
    ///   - rows: the rows to read; all without.  Only blocks that hold some of them are read.
    /// - Throws: `SFrameReadingError`: `.missingArchive` where there is no archive, `.badArchive` for damage in the files
    ///   that describe it and for files that are missing, `.unsupportedArchive` for archives of other things and versions
    ///   and for rows that the frame has not, `.unsupportedType` with Turi Create's number of the type for columns of
    ///   pictures (8) and of types that are not known, `.unsupportedLayout` for data elsewhere or laid out in other ways,
    ///   `.badEncoding` for damage in the data, `.missingColumn` for a column that is not there.
    public init(contentsOfSFrameDirectory url: URL, columns: [String]? = nil, rows: Range<Int>? = nil) throws {
        self = try SFrameReader(SFrameArchive(url), columns, rows).frame()
    }

    /// The first rows of an SFrame; `mostRows` of them where there are more.
    package init(contentsOfSFrameDirectory url: URL, columns: [String]?, mostRows: Int?) throws(SFrameReadingError) {
        let archive = try SFrameArchive(url)
        let rows = mostRows.map { 0..<min($0, archive.rows) }
        self = try SFrameReader(archive, columns, rows).frame()
    }
}
