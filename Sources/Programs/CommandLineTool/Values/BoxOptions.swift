import ArgumentParser
import CreateML
import Foundation

/// The options for annotated pictures.
struct BoxOptions: ParsableArguments {
    enum Units: String, ExpressibleByArgument, CaseIterable { case pixel, normalized }
    enum Origin: String, ExpressibleByArgument, CaseIterable {
        case topLeft = "top-left"
        case bottomLeft = "bottom-left"
    }
    enum Anchor: String, ExpressibleByArgument, CaseIterable {
        case center
        case topLeft = "top-left"
        case bottomLeft = "bottom-left"
    }

    @Option(help: "The folder of the images, if it is not that of the annotations.")
    var images: String?
    @Option(help: "Create ML's JSON and tables of x, y, width, height: the units, pixel or normalized.")
    var units = Units.pixel
    @Option(help: "Create ML's JSON and tables of x, y, width, height: where y is 0, top-left or bottom-left.")
    var origin = Origin.topLeft
    @Option(help: "Create ML's JSON and tables of x, y, width, height: the point, center, top-left or bottom-left.")
    var anchor = Anchor.center

    /// The options that differ from their defaults.
    var given: [(String, Bool)] {
        [
            ("--images", images != nil), ("--units", units != .pixel), ("--origin", origin != .topLeft),
            ("--anchor", anchor != .center),
        ]
    }

    var type: MLObjectDetector.AnnotationType {
        .boundingBox(
            units: units == .pixel ? .pixel : .normalized,
            origin: origin == .topLeft ? .topLeft : .bottomLeft,
            anchor: anchor == .center ? .center : anchor == .topLeft ? .topLeft : .bottomLeft
        )
    }

    /// The annotated pictures of a path: a folder of pictures and annotations, or a file or folder of annotations.
    func source(_ path: String) -> MLObjectDetector.DataSource {
        let url = URL(fileURLWithPath: path)
        if let images {
            return .directoryWithImages(at: URL(fileURLWithPath: images, isDirectory: true), annotationFile: url)
        }
        if TableFile.isFolder(path) { return .directoryWithImagesAndJsonAnnotation(at: url) }
        return .directoryWithImages(at: url.deletingLastPathComponent(), annotationFile: url)
    }
}
