// 2 awkward "names" 😀.swift
// Written by coreml generate, which replaces what is changed here when it writes it again.
// swift-format-ignore-file
// swiftlint:disable all

import CoreML

/// What _2_awkward__names__😀 predicts from.
@available(macOS 14.0, iOS 17.0, tvOS 17.0, watchOS 10.0, visionOS 1.0, *)
class _2_awkward__names__😀Input: MLFeatureProvider, @unchecked Sendable {
    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "Class".
    var Class_: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "init".
    var init_: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "self".
    var self_: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "Type".
    var Type_: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "class".
    var class_: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var model: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "featureNames".
    var featureNames_: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "featureValue".
    var featureValue_: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var provider: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var input: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var options: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var state: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var using: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var featureName: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "a-b".
    var a_b_: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "a b".
    var a_b__: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var a_b: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "1st".
    var _1st: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "".
    var __: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "-".
    var ___: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "_".
    var ____: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var größe: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var 大きさ: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var عرض: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var 😀: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var 👩‍🔬: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "x\"; fatalError() //".
    var x___fatalError_____: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "\\(fatalError())".
    var __fatalError___: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "line\nbreak".
    var line_break: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "*/ fatalError() /*".
    var ___fatalError_____: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "tab\there".
    var tab_here: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "\u{202E}evil".
    var _evil: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var String: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var Error: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var Result: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var Set: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var Double: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "MLFeatureValue".
    var MLFeatureValue_: Double

    /// An array of Float, 1.
    /// The model calls it "MLMultiArray".
    var MLMultiArray_: MLMultiArray

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var type: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var xShapedArray: Double

    /// An array of Float, 1.
    var x: MLMultiArray

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var _2_awkward__names___😀Input: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var values: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "$0".
    var _0: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "`quoted`".
    var _quoted_: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "#if".
    var _if: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "\u{301}mark".
    var _́mark: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var open: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var left: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var any: Double

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var some: Double

    var featureNames: Set<String> { [
        "Class",
        "init",
        "self",
        "Type",
        "class",
        "model",
        "featureNames",
        "featureValue",
        "provider",
        "input",
        "options",
        "state",
        "using",
        "featureName",
        "a-b",
        "a b",
        "a_b",
        "1st",
        "",
        "-",
        "_",
        "größe",
        "大きさ",
        "عرض",
        "😀",
        "👩\u{200D}🔬",
        "x\"; fatalError() //",
        "\\(fatalError())",
        "line\nbreak",
        "*/ fatalError() /*",
        "tab\there",
        "\u{202E}evil",
        "String",
        "Error",
        "Result",
        "Set",
        "Double",
        "MLFeatureValue",
        "MLMultiArray",
        "type",
        "xShapedArray",
        "x",
        "_2_awkward__names___😀Input",
        "values",
        "$0",
        "`quoted`",
        "#if",
        "\u{301}mark",
        "open",
        "left",
        "any",
        "some"
    ] }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        switch featureName {
        case "Class": MLFeatureValue(double: self.Class_)
        case "init": MLFeatureValue(double: self.init_)
        case "self": MLFeatureValue(double: self.self_)
        case "Type": MLFeatureValue(double: self.Type_)
        case "class": MLFeatureValue(double: self.class_)
        case "model": MLFeatureValue(double: self.model)
        case "featureNames": MLFeatureValue(double: self.featureNames_)
        case "featureValue": MLFeatureValue(double: self.featureValue_)
        case "provider": MLFeatureValue(double: self.provider)
        case "input": MLFeatureValue(double: self.input)
        case "options": MLFeatureValue(double: self.options)
        case "state": MLFeatureValue(double: self.state)
        case "using": MLFeatureValue(double: self.using)
        case "featureName": MLFeatureValue(double: self.featureName)
        case "a-b": MLFeatureValue(double: self.a_b_)
        case "a b": MLFeatureValue(double: self.a_b__)
        case "a_b": MLFeatureValue(double: self.a_b)
        case "1st": MLFeatureValue(double: self._1st)
        case "": MLFeatureValue(double: self.__)
        case "-": MLFeatureValue(double: self.___)
        case "_": MLFeatureValue(double: self.____)
        case "größe": MLFeatureValue(double: self.größe)
        case "大きさ": MLFeatureValue(double: self.大きさ)
        case "عرض": MLFeatureValue(double: self.عرض)
        case "😀": MLFeatureValue(double: self.😀)
        case "👩\u{200D}🔬": MLFeatureValue(double: self.👩‍🔬)
        case "x\"; fatalError() //": MLFeatureValue(double: self.x___fatalError_____)
        case "\\(fatalError())": MLFeatureValue(double: self.__fatalError___)
        case "line\nbreak": MLFeatureValue(double: self.line_break)
        case "*/ fatalError() /*": MLFeatureValue(double: self.___fatalError_____)
        case "tab\there": MLFeatureValue(double: self.tab_here)
        case "\u{202E}evil": MLFeatureValue(double: self._evil)
        case "String": MLFeatureValue(double: self.String)
        case "Error": MLFeatureValue(double: self.Error)
        case "Result": MLFeatureValue(double: self.Result)
        case "Set": MLFeatureValue(double: self.Set)
        case "Double": MLFeatureValue(double: self.Double)
        case "MLFeatureValue": MLFeatureValue(double: self.MLFeatureValue_)
        case "MLMultiArray": MLFeatureValue(multiArray: self.MLMultiArray_)
        case "type": MLFeatureValue(double: self.type)
        case "xShapedArray": MLFeatureValue(double: self.xShapedArray)
        case "x": MLFeatureValue(multiArray: self.x)
        case "_2_awkward__names___😀Input": MLFeatureValue(double: self._2_awkward__names___😀Input)
        case "values": MLFeatureValue(double: self.values)
        case "$0": MLFeatureValue(double: self._0)
        case "`quoted`": MLFeatureValue(double: self._quoted_)
        case "#if": MLFeatureValue(double: self._if)
        case "\u{301}mark": MLFeatureValue(double: self._́mark)
        case "open": MLFeatureValue(double: self.open)
        case "left": MLFeatureValue(double: self.left)
        case "any": MLFeatureValue(double: self.any)
        case "some": MLFeatureValue(double: self.some)
        default: nil
        }
    }

    init(
        Class_: Double,
        init_: Double,
        self_: Double,
        Type_: Double,
        class_: Double,
        model: Double,
        featureNames_: Double,
        featureValue_: Double,
        provider: Double,
        input: Double,
        options: Double,
        state: Double,
        using: Double,
        featureName: Double,
        a_b_: Double,
        a_b__: Double,
        a_b: Double,
        _1st: Double,
        __: Double,
        ___: Double,
        ____: Double,
        größe: Double,
        大きさ: Double,
        عرض: Double,
        😀: Double,
        👩‍🔬: Double,
        x___fatalError_____: Double,
        __fatalError___: Double,
        line_break: Double,
        ___fatalError_____: Double,
        tab_here: Double,
        _evil: Double,
        String: Double,
        Error: Double,
        Result: Double,
        Set: Double,
        Double: Double,
        MLFeatureValue_: Double,
        MLMultiArray_: MLMultiArray,
        type: Double,
        xShapedArray: Double,
        x: MLMultiArray,
        _2_awkward__names___😀Input: Double,
        values: Double,
        _0: Double,
        _quoted_: Double,
        _if: Double,
        _́mark: Double,
        open: Double,
        left: Double,
        any: Double,
        some: Double
    ) {
        self.Class_ = Class_
        self.init_ = init_
        self.self_ = self_
        self.Type_ = Type_
        self.class_ = class_
        self.model = model
        self.featureNames_ = featureNames_
        self.featureValue_ = featureValue_
        self.provider = provider
        self.input = input
        self.options = options
        self.state = state
        self.using = using
        self.featureName = featureName
        self.a_b_ = a_b_
        self.a_b__ = a_b__
        self.a_b = a_b
        self._1st = _1st
        self.__ = __
        self.___ = ___
        self.____ = ____
        self.größe = größe
        self.大きさ = 大きさ
        self.عرض = عرض
        self.😀 = 😀
        self.👩‍🔬 = 👩‍🔬
        self.x___fatalError_____ = x___fatalError_____
        self.__fatalError___ = __fatalError___
        self.line_break = line_break
        self.___fatalError_____ = ___fatalError_____
        self.tab_here = tab_here
        self._evil = _evil
        self.String = String
        self.Error = Error
        self.Result = Result
        self.Set = Set
        self.Double = Double
        self.MLFeatureValue_ = MLFeatureValue_
        self.MLMultiArray_ = MLMultiArray_
        self.type = type
        self.xShapedArray = xShapedArray
        self.x = x
        self._2_awkward__names___😀Input = _2_awkward__names___😀Input
        self.values = values
        self._0 = _0
        self._quoted_ = _quoted_
        self._if = _if
        self._́mark = _́mark
        self.open = open
        self.left = left
        self.any = any
        self.some = some
    }

    convenience init(
        Class_: Double,
        init_: Double,
        self_: Double,
        Type_: Double,
        class_: Double,
        model: Double,
        featureNames_: Double,
        featureValue_: Double,
        provider: Double,
        input: Double,
        options: Double,
        state: Double,
        using: Double,
        featureName: Double,
        a_b_: Double,
        a_b__: Double,
        a_b: Double,
        _1st: Double,
        __: Double,
        ___: Double,
        ____: Double,
        größe: Double,
        大きさ: Double,
        عرض: Double,
        😀: Double,
        👩‍🔬: Double,
        x___fatalError_____: Double,
        __fatalError___: Double,
        line_break: Double,
        ___fatalError_____: Double,
        tab_here: Double,
        _evil: Double,
        String: Double,
        Error: Double,
        Result: Double,
        Set: Double,
        Double: Double,
        MLFeatureValue_: Double,
        MLMultiArray_: MLShapedArray<Float>,
        type: Double,
        xShapedArray: Double,
        x: MLShapedArray<Float>,
        _2_awkward__names___😀Input: Double,
        values: Double,
        _0: Double,
        _quoted_: Double,
        _if: Double,
        _́mark: Double,
        open: Double,
        left: Double,
        any: Double,
        some: Double
    ) {
        self.init(
            Class_: Class_,
            init_: init_,
            self_: self_,
            Type_: Type_,
            class_: class_,
            model: model,
            featureNames_: featureNames_,
            featureValue_: featureValue_,
            provider: provider,
            input: input,
            options: options,
            state: state,
            using: using,
            featureName: featureName,
            a_b_: a_b_,
            a_b__: a_b__,
            a_b: a_b,
            _1st: _1st,
            __: __,
            ___: ___,
            ____: ____,
            größe: größe,
            大きさ: 大きさ,
            عرض: عرض,
            😀: 😀,
            👩‍🔬: 👩‍🔬,
            x___fatalError_____: x___fatalError_____,
            __fatalError___: __fatalError___,
            line_break: line_break,
            ___fatalError_____: ___fatalError_____,
            tab_here: tab_here,
            _evil: _evil,
            String: String,
            Error: Error,
            Result: Result,
            Set: Set,
            Double: Double,
            MLFeatureValue_: MLFeatureValue_,
            MLMultiArray_: MLMultiArray(MLMultiArray_),
            type: type,
            xShapedArray: xShapedArray,
            x: MLMultiArray(x),
            _2_awkward__names___😀Input: _2_awkward__names___😀Input,
            values: values,
            _0: _0,
            _quoted_: _quoted_,
            _if: _if,
            _́mark: _́mark,
            open: open,
            left: left,
            any: any,
            some: some
        )
    }
}

/// What _2_awkward__names__😀 predicted.
@available(macOS 14.0, iOS 17.0, tvOS 17.0, watchOS 10.0, visionOS 1.0, *)
class _2_awkward__names__😀Output: MLFeatureProvider, @unchecked Sendable {
    private let provider: any MLFeatureProvider

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "Class".
    var Class_: Double { self.provider.featureValue(for: "Class")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "init".
    var init_: Double { self.provider.featureValue(for: "init")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "self".
    var self_: Double { self.provider.featureValue(for: "self")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "Type".
    var Type_: Double { self.provider.featureValue(for: "Type")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "class".
    var class_: Double { self.provider.featureValue(for: "class")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var model: Double { self.provider.featureValue(for: "model")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "featureNames".
    var featureNames_: Double { self.provider.featureValue(for: "featureNames")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "featureValue".
    var featureValue_: Double { self.provider.featureValue(for: "featureValue")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "provider".
    var provider_: Double { self.provider.featureValue(for: "provider")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var input: Double { self.provider.featureValue(for: "input")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var options: Double { self.provider.featureValue(for: "options")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var state: Double { self.provider.featureValue(for: "state")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var using: Double { self.provider.featureValue(for: "using")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var featureName: Double { self.provider.featureValue(for: "featureName")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "a-b".
    var a_b_: Double { self.provider.featureValue(for: "a-b")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "a b".
    var a_b__: Double { self.provider.featureValue(for: "a b")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var a_b: Double { self.provider.featureValue(for: "a_b")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "1st".
    var _1st: Double { self.provider.featureValue(for: "1st")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "".
    var __: Double { self.provider.featureValue(for: "")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "-".
    var ___: Double { self.provider.featureValue(for: "-")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "_".
    var ____: Double { self.provider.featureValue(for: "_")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var größe: Double { self.provider.featureValue(for: "größe")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var 大きさ: Double { self.provider.featureValue(for: "大きさ")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var عرض: Double { self.provider.featureValue(for: "عرض")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var 😀: Double { self.provider.featureValue(for: "😀")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var 👩‍🔬: Double { self.provider.featureValue(for: "👩\u{200D}🔬")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "x\"; fatalError() //".
    var x___fatalError_____: Double { self.provider.featureValue(for: "x\"; fatalError() //")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "\\(fatalError())".
    var __fatalError___: Double { self.provider.featureValue(for: "\\(fatalError())")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "line\nbreak".
    var line_break: Double { self.provider.featureValue(for: "line\nbreak")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "*/ fatalError() /*".
    var ___fatalError_____: Double { self.provider.featureValue(for: "*/ fatalError() /*")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "tab\there".
    var tab_here: Double { self.provider.featureValue(for: "tab\there")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "\u{202E}evil".
    var _evil: Double { self.provider.featureValue(for: "\u{202E}evil")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var String: Double { self.provider.featureValue(for: "String")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var Error: Double { self.provider.featureValue(for: "Error")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var Result: Double { self.provider.featureValue(for: "Result")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var Set: Double { self.provider.featureValue(for: "Set")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var Double: Double { self.provider.featureValue(for: "Double")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "MLFeatureValue".
    var MLFeatureValue_: Double { self.provider.featureValue(for: "MLFeatureValue")!.doubleValue }

    /// An array of Float, 1.
    /// The model calls it "MLMultiArray".
    var MLMultiArray_: MLMultiArray { self.provider.featureValue(for: "MLMultiArray")!.multiArrayValue! }

    /// An array of Float, 1.
    /// The model calls it "MLMultiArray".
    var MLMultiArray_ShapedArray: MLShapedArray<Float> { MLShapedArray<Float>(self.MLMultiArray_) }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var type: Double { self.provider.featureValue(for: "type")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var xShapedArray: Double { self.provider.featureValue(for: "xShapedArray")!.doubleValue }

    /// An array of Float, 1.
    var x: MLMultiArray { self.provider.featureValue(for: "x")!.multiArrayValue! }

    /// An array of Float, 1.
    var xShapedArray_: MLShapedArray<Float> { MLShapedArray<Float>(self.x) }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var _2_awkward__names___😀Input: Double { self.provider.featureValue(for: "_2_awkward__names___😀Input")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var values: Double { self.provider.featureValue(for: "values")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "$0".
    var _0: Double { self.provider.featureValue(for: "$0")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "`quoted`".
    var _quoted_: Double { self.provider.featureValue(for: "`quoted`")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "#if".
    var _if: Double { self.provider.featureValue(for: "#if")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    /// The model calls it "\u{301}mark".
    var _́mark: Double { self.provider.featureValue(for: "\u{301}mark")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var open: Double { self.provider.featureValue(for: "open")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var left: Double { self.provider.featureValue(for: "left")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var any: Double { self.provider.featureValue(for: "any")!.doubleValue }

    /// */ " \(fatalError()) \
    ///
    /// fatalError()
    /// fatalError()     """ /* #if
    ///
    /// A number.
    var some: Double { self.provider.featureValue(for: "some")!.doubleValue }

    var featureNames: Set<String> { self.provider.featureNames }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        self.provider.featureValue(for: featureName)
    }

    init(
        Class_: Double,
        init_: Double,
        self_: Double,
        Type_: Double,
        class_: Double,
        model: Double,
        featureNames_: Double,
        featureValue_: Double,
        provider_: Double,
        input: Double,
        options: Double,
        state: Double,
        using: Double,
        featureName: Double,
        a_b_: Double,
        a_b__: Double,
        a_b: Double,
        _1st: Double,
        __: Double,
        ___: Double,
        ____: Double,
        größe: Double,
        大きさ: Double,
        عرض: Double,
        😀: Double,
        👩‍🔬: Double,
        x___fatalError_____: Double,
        __fatalError___: Double,
        line_break: Double,
        ___fatalError_____: Double,
        tab_here: Double,
        _evil: Double,
        String: Double,
        Error: Double,
        Result: Double,
        Set: Double,
        Double: Double,
        MLFeatureValue_: Double,
        MLMultiArray_: MLMultiArray,
        type: Double,
        xShapedArray: Double,
        x: MLMultiArray,
        _2_awkward__names___😀Input: Double,
        values: Double,
        _0: Double,
        _quoted_: Double,
        _if: Double,
        _́mark: Double,
        open: Double,
        left: Double,
        any: Double,
        some: Double
    ) {
        self.provider = try! MLDictionaryFeatureProvider(dictionary: [
            "Class": MLFeatureValue(double: Class_),
            "init": MLFeatureValue(double: init_),
            "self": MLFeatureValue(double: self_),
            "Type": MLFeatureValue(double: Type_),
            "class": MLFeatureValue(double: class_),
            "model": MLFeatureValue(double: model),
            "featureNames": MLFeatureValue(double: featureNames_),
            "featureValue": MLFeatureValue(double: featureValue_),
            "provider": MLFeatureValue(double: provider_),
            "input": MLFeatureValue(double: input),
            "options": MLFeatureValue(double: options),
            "state": MLFeatureValue(double: state),
            "using": MLFeatureValue(double: using),
            "featureName": MLFeatureValue(double: featureName),
            "a-b": MLFeatureValue(double: a_b_),
            "a b": MLFeatureValue(double: a_b__),
            "a_b": MLFeatureValue(double: a_b),
            "1st": MLFeatureValue(double: _1st),
            "": MLFeatureValue(double: __),
            "-": MLFeatureValue(double: ___),
            "_": MLFeatureValue(double: ____),
            "größe": MLFeatureValue(double: größe),
            "大きさ": MLFeatureValue(double: 大きさ),
            "عرض": MLFeatureValue(double: عرض),
            "😀": MLFeatureValue(double: 😀),
            "👩\u{200D}🔬": MLFeatureValue(double: 👩‍🔬),
            "x\"; fatalError() //": MLFeatureValue(double: x___fatalError_____),
            "\\(fatalError())": MLFeatureValue(double: __fatalError___),
            "line\nbreak": MLFeatureValue(double: line_break),
            "*/ fatalError() /*": MLFeatureValue(double: ___fatalError_____),
            "tab\there": MLFeatureValue(double: tab_here),
            "\u{202E}evil": MLFeatureValue(double: _evil),
            "String": MLFeatureValue(double: String),
            "Error": MLFeatureValue(double: Error),
            "Result": MLFeatureValue(double: Result),
            "Set": MLFeatureValue(double: Set),
            "Double": MLFeatureValue(double: Double),
            "MLFeatureValue": MLFeatureValue(double: MLFeatureValue_),
            "MLMultiArray": MLFeatureValue(multiArray: MLMultiArray_),
            "type": MLFeatureValue(double: type),
            "xShapedArray": MLFeatureValue(double: xShapedArray),
            "x": MLFeatureValue(multiArray: x),
            "_2_awkward__names___😀Input": MLFeatureValue(double: _2_awkward__names___😀Input),
            "values": MLFeatureValue(double: values),
            "$0": MLFeatureValue(double: _0),
            "`quoted`": MLFeatureValue(double: _quoted_),
            "#if": MLFeatureValue(double: _if),
            "\u{301}mark": MLFeatureValue(double: _́mark),
            "open": MLFeatureValue(double: open),
            "left": MLFeatureValue(double: left),
            "any": MLFeatureValue(double: any),
            "some": MLFeatureValue(double: some)
        ])
    }

    init(features: any MLFeatureProvider) {
        self.provider = features
    }
}

/// */ " \(fatalError()) \
///
/// fatalError()
/// fatalError()     """ /* #if
///
/// The model 2 awkward "names" 😀.
///
/// Author: */ " \(fatalError()) \  fatalError() fatalError()     """ /* #if
///
/// Licence: */ " \(fatalError()) \  fatalError() fatalError()     """ /* #if
///
/// Version: */ " \(fatalError()) \  fatalError() fatalError()     """ /* #if
@available(macOS 14.0, iOS 17.0, tvOS 17.0, watchOS 10.0, visionOS 1.0, *)
class _2_awkward__names__😀: @unchecked Sendable {
    let model: MLModel

    /// Where the compiled model lies in the bundle that holds this class.
    class var urlOfModelInThisBundle: URL {
        Bundle(for: self).url(forResource: "2 awkward \"names\" 😀", withExtension: "mlmodelc")!
    }

    /// Takes a model that was loaded otherwise.
    init(model: MLModel) {
        self.model = model
    }

    /// Loads the model from the bundle.
    convenience init(configuration: MLModelConfiguration = MLModelConfiguration()) throws {
        try self.init(contentsOf: type(of: self).urlOfModelInThisBundle, configuration: configuration)
    }

    /// Loads the model that lies at `modelURL`.
    convenience init(contentsOf modelURL: URL) throws {
        try self.init(model: MLModel(contentsOf: modelURL))
    }

    /// Loads the model that lies at `modelURL`.
    convenience init(contentsOf modelURL: URL, configuration: MLModelConfiguration) throws {
        try self.init(model: MLModel(contentsOf: modelURL, configuration: configuration))
    }

    /// Loads the model from the bundle.
    class func load(
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<_2_awkward__names__😀, any Error>) -> Void
    ) {
        load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration, completionHandler: handler)
    }

    /// Loads the model from the bundle.
    class func load(
        configuration: MLModelConfiguration = MLModelConfiguration()
    ) async throws -> _2_awkward__names__😀 {
        try await load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration)
    }

    /// Loads the model that lies at `modelURL`.
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<_2_awkward__names__😀, any Error>) -> Void
    ) {
        MLModel.load(contentsOf: modelURL, configuration: configuration) { result in
            handler(result.map { _2_awkward__names__😀(model: $0) })
        }
    }

    /// Loads the model that lies at `modelURL`.
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration()
    ) async throws -> _2_awkward__names__😀 {
        _2_awkward__names__😀(model: try await MLModel.load(contentsOf: modelURL, configuration: configuration))
    }

    func prediction(input: _2_awkward__names__😀Input) throws -> _2_awkward__names__😀Output {
        try self.prediction(input: input, options: MLPredictionOptions())
    }

    func prediction(
        input: _2_awkward__names__😀Input,
        options: MLPredictionOptions
    ) throws -> _2_awkward__names__😀Output {
        _2_awkward__names__😀Output(features: try self.model.prediction(from: input, options: options))
    }

    func prediction(
        input: _2_awkward__names__😀Input,
        options: MLPredictionOptions = MLPredictionOptions()
    ) async throws -> _2_awkward__names__😀Output {
        _2_awkward__names__😀Output(features: try await self.model.prediction(from: input, options: options))
    }

    /// Predicts from several inputs, at once where the model can.
    func predictions(
        inputs: [_2_awkward__names__😀Input],
        options: MLPredictionOptions = MLPredictionOptions()
    ) throws -> [_2_awkward__names__😀Output] {
        let batch = try self.model.predictions(from: MLArrayBatchProvider(array: inputs), options: options)
        return (0..<batch.count).map { _2_awkward__names__😀Output(features: batch.features(at: $0)) }
    }

    func prediction(
        Class_: Double,
        init_: Double,
        self_: Double,
        Type_: Double,
        class_: Double,
        model: Double,
        featureNames_: Double,
        featureValue_: Double,
        provider: Double,
        input: Double,
        options: Double,
        state: Double,
        using: Double,
        featureName: Double,
        a_b_: Double,
        a_b__: Double,
        a_b: Double,
        _1st: Double,
        __: Double,
        ___: Double,
        ____: Double,
        größe: Double,
        大きさ: Double,
        عرض: Double,
        😀: Double,
        👩‍🔬: Double,
        x___fatalError_____: Double,
        __fatalError___: Double,
        line_break: Double,
        ___fatalError_____: Double,
        tab_here: Double,
        _evil: Double,
        String: Double,
        Error: Double,
        Result: Double,
        Set: Double,
        Double: Double,
        MLFeatureValue_: Double,
        MLMultiArray_: MLMultiArray,
        type: Double,
        xShapedArray: Double,
        x: MLMultiArray,
        _2_awkward__names___😀Input: Double,
        values: Double,
        _0: Double,
        _quoted_: Double,
        _if: Double,
        _́mark: Double,
        open: Double,
        left: Double,
        any: Double,
        some: Double
    ) throws -> _2_awkward__names__😀Output {
        try self.prediction(input: _2_awkward__names__😀Input(
            Class_: Class_,
            init_: init_,
            self_: self_,
            Type_: Type_,
            class_: class_,
            model: model,
            featureNames_: featureNames_,
            featureValue_: featureValue_,
            provider: provider,
            input: input,
            options: options,
            state: state,
            using: using,
            featureName: featureName,
            a_b_: a_b_,
            a_b__: a_b__,
            a_b: a_b,
            _1st: _1st,
            __: __,
            ___: ___,
            ____: ____,
            größe: größe,
            大きさ: 大きさ,
            عرض: عرض,
            😀: 😀,
            👩‍🔬: 👩‍🔬,
            x___fatalError_____: x___fatalError_____,
            __fatalError___: __fatalError___,
            line_break: line_break,
            ___fatalError_____: ___fatalError_____,
            tab_here: tab_here,
            _evil: _evil,
            String: String,
            Error: Error,
            Result: Result,
            Set: Set,
            Double: Double,
            MLFeatureValue_: MLFeatureValue_,
            MLMultiArray_: MLMultiArray_,
            type: type,
            xShapedArray: xShapedArray,
            x: x,
            _2_awkward__names___😀Input: _2_awkward__names___😀Input,
            values: values,
            _0: _0,
            _quoted_: _quoted_,
            _if: _if,
            _́mark: _́mark,
            open: open,
            left: left,
            any: any,
            some: some
        ))
    }

    func prediction(
        Class_: Double,
        init_: Double,
        self_: Double,
        Type_: Double,
        class_: Double,
        model: Double,
        featureNames_: Double,
        featureValue_: Double,
        provider: Double,
        input: Double,
        options: Double,
        state: Double,
        using: Double,
        featureName: Double,
        a_b_: Double,
        a_b__: Double,
        a_b: Double,
        _1st: Double,
        __: Double,
        ___: Double,
        ____: Double,
        größe: Double,
        大きさ: Double,
        عرض: Double,
        😀: Double,
        👩‍🔬: Double,
        x___fatalError_____: Double,
        __fatalError___: Double,
        line_break: Double,
        ___fatalError_____: Double,
        tab_here: Double,
        _evil: Double,
        String: Double,
        Error: Double,
        Result: Double,
        Set: Double,
        Double: Double,
        MLFeatureValue_: Double,
        MLMultiArray_: MLShapedArray<Float>,
        type: Double,
        xShapedArray: Double,
        x: MLShapedArray<Float>,
        _2_awkward__names___😀Input: Double,
        values: Double,
        _0: Double,
        _quoted_: Double,
        _if: Double,
        _́mark: Double,
        open: Double,
        left: Double,
        any: Double,
        some: Double
    ) throws -> _2_awkward__names__😀Output {
        try self.prediction(input: _2_awkward__names__😀Input(
            Class_: Class_,
            init_: init_,
            self_: self_,
            Type_: Type_,
            class_: class_,
            model: model,
            featureNames_: featureNames_,
            featureValue_: featureValue_,
            provider: provider,
            input: input,
            options: options,
            state: state,
            using: using,
            featureName: featureName,
            a_b_: a_b_,
            a_b__: a_b__,
            a_b: a_b,
            _1st: _1st,
            __: __,
            ___: ___,
            ____: ____,
            größe: größe,
            大きさ: 大きさ,
            عرض: عرض,
            😀: 😀,
            👩‍🔬: 👩‍🔬,
            x___fatalError_____: x___fatalError_____,
            __fatalError___: __fatalError___,
            line_break: line_break,
            ___fatalError_____: ___fatalError_____,
            tab_here: tab_here,
            _evil: _evil,
            String: String,
            Error: Error,
            Result: Result,
            Set: Set,
            Double: Double,
            MLFeatureValue_: MLFeatureValue_,
            MLMultiArray_: MLMultiArray(MLMultiArray_),
            type: type,
            xShapedArray: xShapedArray,
            x: MLMultiArray(x),
            _2_awkward__names___😀Input: _2_awkward__names___😀Input,
            values: values,
            _0: _0,
            _quoted_: _quoted_,
            _if: _if,
            _́mark: _́mark,
            open: open,
            left: left,
            any: any,
            some: some
        ))
    }
}
