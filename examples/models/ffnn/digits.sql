-- Handwritten digits: a classifier with one hidden layer of 64 units, trained by gradient descent in small batches. Run in
-- the root of the project, on a database of its own:
--
--   build/eindb digits.db -f examples/models/ffnn/digits.sql
--
-- Labels: n a batch of the training images, b an image of it, i a pixel, h a hidden unit, c a class.

-- 1. 1,797 images of 8 x 8 pixels from 0 to 16, the digit in column 64. Every fifth image is held out; the first 1,400 of
-- the others are 14 batches of 100. SQL takes the rows apart, and brings the pixels to a mean and a spread of about 0 and 1.
COPY digits FROM 'examples/demo/digits.csv';
CREATE TENSOR images (n 14, b 100, i 64) FLOAT32 AS
SELECT place / 100, place % 100, j, (val - 5) / 6.0
FROM (SELECT i - i / 5 - 1 AS place, j, val FROM digits WHERE i % 5 <> 0 AND j < 64) WHERE place < 1400;
CREATE TENSOR classes (n 14, b 100) INT64 AS
SELECT place / 100, place % 100, CAST(val AS INTEGER)
FROM (SELECT i - i / 5 - 1 AS place, val FROM digits WHERE i % 5 <> 0 AND j = 64) WHERE place < 1400;
CREATE TENSOR held_images (b 360, i 64) FLOAT32 AS SELECT i / 5, j, (val - 5) / 6.0 FROM digits WHERE i % 5 = 0 AND j < 64;
CREATE TENSOR held_classes (b 360) INT64 AS SELECT i / 5, CAST(val AS INTEGER) FROM digits WHERE i % 5 = 0 AND j = 64;

-- 2. The model: small random weights, and no bias at first.
CREATE TENSOR W1 FLOAT32 AS EINSUM W1[i 64, h 64] = RANDN(1) * SQRT(2 / 64);
CREATE TENSOR B1 (h 64) FLOAT32;
CREATE TENSOR W2 FLOAT32 AS EINSUM W2[h 64, c 10] = RANDN(2) * SQRT(2 / 64);
CREATE TENSOR B2 (c 10) FLOAT32;

-- 3. Training: the loss is the cross-entropy of the scores' softmax, in the form that does not overflow. Every epoch is
-- committed: a script that was cut off goes on from there.
REPEAT 40 AS epoch {
  REPEAT 14 AS n {
    WITH P[b,h] = SUM(images[n,b,i] * W1[i,h]) + B1[h],
         H[b,h] = RELU(P[b,h]),
         Q[b,c] = SUM(H[b,h] * W2[h,c]) + B2[c],
         GRADIENT OF L[] = MEAN[b](LOGSUMEXP[c](Q[b,c]) - SUM[c](CASE WHEN classes[n,b] = c THEN Q[b,c] ELSE 0 END))
           WITH RESPECT TO (W1, B1, W2, B2)
    UPDATE TENSOR W1[i,h] = W1[i,h] - 0.3 * dW1[i,h], B1[h] = B1[h] - 0.3 * dB1[h],
                  W2[h,c] = W2[h,c] - 0.3 * dW2[h,c], B2[c] = B2[c] - 0.3 * dB2[c];
  }
};

-- 4. The share of held-out images whose digit scores most.
WITH H[b,h] = RELU(SUM(held_images[b,i] * W1[i,h]) + B1[h]),
     Q[b,c] = SUM(H[b,h] * W2[h,c]) + B2[c],
     guess[b] = ARGMAX(Q[b,c])
EINSUM accuracy[] = MEAN(guess[b] = held_classes[b]);
