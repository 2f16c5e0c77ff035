public import Foundation

extension DataFrame {
    /// Reads an SFrame: a directory written by Turi Create or Create ML (see Documentation/SFrame.md).
    ///
    /// Integers are `Int`, floats `Double`, strings `String`, arrays `[Double]`, lists `[Any?]`, dictionaries
    /// `[AnyHashable: Any?]`, datetimes `Date` (without their time zones) and multidimensional arrays
    /// `ShapedData<Double>`. The same holds for values in lists and dictionaries.
    ///
    /// - Parameters:
    ///   - url: The directory.
    ///   - columns: The columns to read, in that order; all by default. The data of others is not examined.
    ///   - rows: The rows to read, counted from 0; all by default. Only blocks that hold some of them are read.
    /// - Throws: `SFrameReadingError`: `.missingArchive` when there is no archive; `.badArchive` for damage in the
    ///   files that describe it and for missing files; `.unsupportedArchive` for archives of other objects and
    ///   versions, and for rows that the frame does not have; `.unsupportedType` with Turi Create's type number for
    ///   columns of images (8) and of unknown types; `.unsupportedLayout` for data stored elsewhere or in another
    ///   layout; `.badEncoding` for damaged data; `.missingColumn` for a column that does not exist.
    public init(contentsOfSFrameDirectory url: URL, columns: [String]? = nil, rows: Range<Int>? = nil) throws {
        self = try SFrameReader(SFrameArchive(url), columns, rows).frame()
    }

    /// Reads the first rows of an SFrame, at most `maximumRowCount` of them, or all when it is nil.
    package init(contentsOfSFrameDirectory url: URL, columns: [String]?, maximumRowCount: Int?)
        throws(SFrameReadingError)
    {
        let archive = try SFrameArchive(url)
        let rows = maximumRowCount.map { 0..<min($0, archive.rows) }
        self = try SFrameReader(archive, columns, rows).frame()
    }
}
