// Predictions and errors of a model in a database for measurements in this program's memory.
//
//     regression [DATABASE]     without a file the database is in memory

#include <complex>
#include <eindb/eindb.hpp>
#include <iostream>
#include <vector>

namespace {

// 4 measurements of 3 numbers each. A sensor delivers records of 4 floats, the last of which is not part of the
// measurement, so rows are 4 elements apart.
const std::vector<float> kRecords{1, 2, 3, -1,  //
                                  4, 5, 6, -1,  //
                                  7, 8, 9, -1,  //
                                  1, 0, 1, -1};

eindb::TensorView measurements() {
  return eindb::TensorView::of(kRecords.data(), {4, 3}, {4, 1}).with_labels({"sample", "feature"});
}

// The model is stored; X is read in place.
void predict(eindb::Connection& db) {
  db.execute("CREATE TENSOR W AS EINSUM W[feature 3, class 2] = feature - class");
  db.attach("X", measurements());
  const auto scores = db.execute("EINSUM Z[sample, class] = SUM(X[sample, feature] * W[feature, class])").tensor();
  std::cout << scores.name() << " is " << scores.extents()[0] << " x " << scores.extents()[1] << " "
            << to_string(scores.type()) << ":";
  for (const double value : scores.values<double>()) std::cout << " " << value;
  std::cout << "\n";

  // Column by column, as in Fortran and BLAS: strides determine the place of each element.
  std::vector<double> by_column(8);
  scores.copy_to(by_column.data(), {1, 4});
  std::cout << "the second class: " << by_column[4] << " " << by_column[5] << " ...\n";
}

// SQL rows over the same memory.
void summarize(eindb::Connection& db) {
  for (const auto& row : db.execute("SELECT feature, AVG(val) AS mean FROM X GROUP BY feature ORDER BY feature"))
    std::cout << "feature " << row.get<int>(0) << " has mean " << row.get<double>(1) << "\n";
}

// One statement with different values and tensors.
void rescale(eindb::Connection& db) {
  auto scale = db.prepare("EINSUM S[i] = $1 * V[i] + $2");
  const std::vector<double> ramp{0, 1, 2};
  scale.bind(1, 10).bind(2, 0.5);
  scale.bind("V", eindb::TensorView::of(ramp.data(), {3}));
  std::cout << "scaled:";
  for (const auto& row : scale.execute()) std::cout << " " << row.get<double>(1);
  // Backwards: the pointer is at the first element that is read, and the stride is negative.
  scale.bind("V", eindb::TensorView::of(ramp.data() + 2, {3}, {-1}));
  std::cout << "\nbackwards:";
  for (const auto& row : scale.execute()) std::cout << " " << row.get<double>(1);
  std::cout << "\n";
}

// Prints the parts of an error.
void fail(eindb::Connection& db) {
  try {
    db.execute("EINSUM Z[sample]\n  = SUM(X[sample, feature] * Q[feature])");
  } catch (const eindb::Exception& error) {
    std::cout << to_string(error.code()) << " in line " << error.line() << ", column " << error.column() << "\n"
              << error.what() << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) try {
  eindb::Connection db(argc > 1 ? argv[1] : ":memory:");
  predict(db);
  summarize(db);
  rescale(db);
  fail(db);
  return 0;
} catch (const eindb::Exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
