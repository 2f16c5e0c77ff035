import MLGraph
import MLNumerics
import MLOperators
import Testing

private typealias P = GradientProblem

extension GradientTests {
    @Test(arguments: [RecurrentDirection.forward, .reverse], [false, true])
    func recurrentNetworks(_ direction: RecurrentDirection, _ returnsSequence: Bool) {
        let (s, b, i, h) = (4, 3, 2, 5)
        let x: [P.Operand] = [.real([s, b, i]), .real([b, h])]
        for activation: Activation in [.tanh, .sigmoid, .scaledTanh(alpha: 1.2, beta: 0.7)] {
            let op = RNN(direction: direction, returnsSequence: returnsSequence, activation: activation)
            #expect(P("\(activation)", op, x + [.real([h, i]), .real([h, h]), .real([h])]).failures() == [])
        }
        let plain = RNN(direction: direction, returnsSequence: returnsSequence)
        #expect(P("no bias", plain, x + [.real([h, i]), .real([h, h]), .none]).failures() == [])
    }

    @Test(arguments: [RecurrentDirection.forward, .reverse], [false, true])
    func gatedRecurrentUnits(_ direction: RecurrentDirection, _ returnsSequence: Bool) {
        let (s, b, i, h) = (4, 3, 2, 5)
        let x: [P.Operand] = [.real([s, b, i]), .real([b, h]), .real([3 * h, i]), .real([3 * h, h])]
        for resetsAfter in [false, true] {
            var op = GRU(direction: direction, returnsSequence: returnsSequence, resetsAfter: resetsAfter)
            #expect(P("\(resetsAfter)", op, x + [.real([3 * h]), .real([3 * h])]).failures() == [])
            #expect(P("no bias, \(resetsAfter)", op, x + [.none, .none]).failures() == [])
            op.gateActivation = .hardSigmoid(alpha: 0.2, beta: 0.5)
            op.activation = .softsign
            #expect(P("other functions, \(resetsAfter)", op, x + [.real([3 * h]), .none]).failures() == [])
        }
    }

    @Test(arguments: [RecurrentDirection.forward, .reverse, .bidirectional], [false, true])
    func longShortTermMemory(_ direction: RecurrentDirection, _ returnsSequence: Bool) {
        let (s, b, i, h) = (4, 3, 2, 5)
        let width = direction == .bidirectional ? 2 * h : h
        let way: [P.Operand] = [.real([4 * h, i]), .real([4 * h, h]), .real([4 * h]), .real([3 * h])]
        let plainWay: [P.Operand] = [.real([4 * h, i]), .real([4 * h, h]), .none, .none]
        let x: [P.Operand] = [.real([s, b, i]), .real([b, width]), .real([b, width])]
        let isBoth = direction == .bidirectional
        let op = LSTM(direction: direction, returnsSequence: returnsSequence)
        #expect(P("", op, x + way + (isBoth ? way : [])).failures() == [])
        #expect(P("plain", op, x + plainWay + (isBoth ? plainWay : [])).failures() == [])
        var other = op
        other.clip = 0.4
        #expect(P("clipped", other, x + way + (isBoth ? way : [])).failures() == [])
        other.clip = 50
        other.couplesInputAndForget = true
        other.gateActivation = .hardSigmoid(alpha: 0.2, beta: 0.5)
        other.cellActivation = .scaledTanh(alpha: 1.1, beta: 0.9)
        #expect(P("coupled", other, x + way + (isBoth ? way : [])).failures() == [])
    }
}
