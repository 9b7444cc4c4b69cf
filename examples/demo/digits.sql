-- Handwritten digits: which digit is it? Ask the nearest neighbour. Run from the root of the project.

.print 1. Import: 1,797 images of 8 x 8 pixels, one per row, and the digit in column 64.
COPY digits FROM 'examples/demo/digits.csv';
DESCRIBE digits;

.print 2. Pixels and classes as tensors of their own.
CREATE TENSOR pixels FLOAT32 AS
EINSUM pixels[i,j] = CASE WHEN j < 64 THEN digits[i,j] ELSE 0 END;
CREATE TENSOR class AS EINSUM class[i] = digits[i,64];

.print 3. All 1,797 x 1,797 squared distances, with one EINSUM: 210 million differences.
CREATE TENSOR distance AS EINSUM distance[i,k] = SUM((pixels[i,j] - pixels[k,j])^2);

.print 4. The nearest other image, and its class.
CREATE TENSOR nearest AS
EINSUM nearest[i] = MIN(CASE WHEN i = k THEN INFINITY ELSE distance[i,k] END);
CREATE TENSOR predicted AS
EINSUM predicted[i] = MAX(CASE WHEN i <> k AND distance[i,k] = nearest[i] THEN class[k] ELSE -1 END);

.print 5. Accuracy: the share of images whose nearest neighbour shows the same digit.
EINSUM accuracy[] = MEAN(predicted[i] = class[i]);
SHOW TENSORS;
