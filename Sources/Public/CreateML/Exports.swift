// A program that imports `CreateML` alone gets the modules that its declarations use: tables, models, publishers and
// Foundation.
@_exported public import Combine
@_exported public import CoreML
@_exported public import Foundation
@_exported public import TabularData
