import ModelTestSupport
import Testing
import WebImageCodecs

/// Keys must not change: they name files in caches.
@Suite(.tags(.addressSanitizer)) struct TransformerKeyTests {
    private let red = ImageColor(red: 1, green: 0, blue: 0)

    @Test func `Rounded corners: radius, corners, border, colour`() {
        #expect(
            RoundCornerTransformer(radius: 20.5, borderWidth: 1, borderColor: red).transformerKey
                == "SDImageRoundCornerTransformer(20.500000,18446744073709551615,1.000000,#ffff0000)"
        )
        #expect(
            RoundCornerTransformer(radius: 5, corners: [.topLeft, .bottomRight]).transformerKey
                == "SDImageRoundCornerTransformer(5.000000,9,0.000000,(null))"
        )
        #expect(
            [RectCorner.topLeft, .topRight, .bottomLeft, .bottomRight].map(\.rawValue) == [1, 2, 4, 8]
                && RectCorner.allCorners.rawValue == .max
        )
    }

    @Test func `Resizing: size and mode`() {
        #expect(
            ResizingTransformer(size: ImageSize(width: 300, height: 150.25), scaleMode: .aspectFit).transformerKey
                == "SDImageResizingTransformer({300.000000,150.250000},1)"
        )
        #expect(ImageScaleMode.allCases.map(\.rawValue) == [0, 1, 2])
    }

    @Test func `Cropping, flipping, rotation, blur: their numbers`() {
        #expect(
            CroppingTransformer(rect: ImageRect(x: 1, y: -2, width: 30, height: 4.5)).transformerKey
                == "SDImageCroppingTransformer({1.000000,-2.000000,30.000000,4.500000})"
        )
        #expect(
            FlippingTransformer(horizontal: true, vertical: false).transformerKey == "SDImageFlippingTransformer(1,0)"
        )
        #expect(
            RotationTransformer(angle: .pi / 4, fitSize: true).transformerKey
                == "SDImageRotationTransformer(0.785398,1)"
        )
        #expect(
            RotationTransformer(angle: -1, fitSize: false).transformerKey == "SDImageRotationTransformer(-1.000000,0)"
        )
        #expect(BlurTransformer(radius: 50).transformerKey == "SDImageBlurTransformer(50.000000)")
    }

    @Test func `Tint: colour and the number of the mode, source in by default`() {
        #expect(TintTransformer(color: red).transformerKey == "SDImageTintTransformer(#ffff0000,18)")
        #expect(
            TintTransformer(color: .clear, blendMode: .sourceAtop).transformerKey
                == "SDImageTintTransformer(#00000000,20)"
        )
        #expect(ImageBlendMode.allCases.map(\.rawValue) == Array(0...27))
        #expect(ImageBlendMode.plusLighter.rawValue == 27 && ImageBlendMode.luminosity.rawValue == 15)
    }

    @Test func `A closure: its name`() {
        #expect(FilterTransformer(name: "Glow") { $0 }.transformerKey == "SDImageFilterTransformer(Glow)")
    }

    @Test func `A colour matrix: all its numbers, so that two never share a key`() {
        let key = ColorMatrixTransformer(matrix: .brightness(1.5)).transformerKey
        #expect(
            key
                == "ColorMatrixTransformer(1.5,0.0,0.0,0.0,0.0,0.0,1.5,0.0,0.0,0.0,0.0,0.0,1.5,0.0,0.0,0.0,0.0,0.0,1.0,0.0)"
        )
        #expect(ColorMatrixTransformer(matrix: .brightness(1.5.nextUp)).transformerKey != key)
        let keys = TransformPixelTests.matrices.map { ColorMatrixTransformer(matrix: $0.1).transformerKey }
        #expect(Set(keys).count == keys.count)
    }

    @Test func `A chain: the keys joined by dashes, nothing for none`() {
        let chain = PipelineTransformer([BlurTransformer(radius: 1), FilterTransformer(name: "a") { $0 }])
        #expect(chain.transformerKey == "SDImageBlurTransformer(1.000000)-SDImageFilterTransformer(a)")
        #expect(PipelineTransformer([]).transformerKey.isEmpty)
    }

    @Test func `Equal transformers have equal keys`() {
        #expect(
            RotationTransformer(angle: 0.1 + 0.2).transformerKey == RotationTransformer(angle: 0.3).transformerKey,
            "six decimals"
        )
    }
}
