import CPreviewPage

/// The page's files, which are embedded in the executable.
package enum PageAssets {
    /// The file at a path of the page, such as "/page.css".
    package static func response(_ path: String) -> PageResponse? {
        var index = 0
        while let asset = preview_asset(UInt(index)) {
            let file = asset.pointee
            if String(cString: file.path) == path {
                let bytes = UnsafeBufferPointer(start: file.bytes, count: Int(file.count))
                return PageResponse(type: String(cString: file.type), Array(bytes))
            }
            index += 1
        }
        return nil
    }
}
