import Testing
import WebImage

@testable import WebImageGTK

@Suite struct ContentFitTests {
    @Test(arguments: [
        (ContentFit.fill, 200.0, 100.0, 50.0, 80.0, 50.0, 80.0),
        (.contain, 200, 100, 50, 80, 50, 25),
        (.contain, 100, 200, 50, 80, 40, 80),
        (.contain, 10, 5, 50, 80, 50, 25),
        (.cover, 200, 100, 50, 80, 160, 80),
        (.cover, 100, 200, 50, 80, 50, 100),
        (.scaleDown, 10, 5, 50, 80, 10, 5),
        (.scaleDown, 200, 100, 50, 80, 50, 25),
    ])
    func `Each content fit has its size in the box`(
        fit: ContentFit,
        width: Double,
        height: Double,
        boxWidth: Double,
        boxHeight: Double,
        expectedWidth: Double,
        expectedHeight: Double
    ) {
        let size = fit.size(
            of: ImageSize(width: width, height: height),
            ratio: width / height,
            in: ImageSize(width: boxWidth, height: boxHeight)
        )
        #expect(size == ImageSize(width: expectedWidth, height: expectedHeight))
    }
}
