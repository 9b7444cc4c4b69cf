# Checks R's package RPostgreSQL at a server of eindb: Rscript checks.R PORT.

library(RPostgreSQL, quietly = TRUE)
failures <- 0

check <- function(name, body) {
  tryCatch({
    body()
    cat("ok ", name, "\n", sep = "")
  }, error = function(e) {
    failures <<- failures + 1
    cat("failed ", name, ": ", gsub("\n", " ", conditionMessage(e)), "\n", sep = "")
  })
}

expect <- function(actual, expected) {
  if (!identical(all.equal(actual, expected, check.attributes = FALSE), TRUE))
    stop("expected ", deparse(expected), ", found ", deparse(actual))
}

port <- as.integer(commandArgs(trailingOnly = TRUE)[1])
connection <- dbConnect(PostgreSQL(), host = "127.0.0.1", port = port, user = "ada", dbname = "s")
query <- function(...) dbGetQuery(connection, ...)
cat("version ", as.character(packageVersion("RPostgreSQL")), "\n", sep = "")

check("rows", function() {
  notes <- query("SELECT id, title, score FROM notes ORDER BY id")
  expect(notes$id, c(1, 2))
  expect(notes$title, c("one", "two"))
  expect(notes$score, c(1.5, 2.5))
})
check("parameters", function() {
  expect(query("SELECT title FROM notes WHERE id = $1", 2)$title, "two")
})
check("NULL is NA", function() expect(is.na(query("SELECT CAST(NULL AS bigint) AS n")$n), TRUE))
check("dbListTables", function() expect(sort(dbListTables(connection)), c("C", "child", "notes", "X")))
check("dbExistsTable", function() {
  expect(dbExistsTable(connection, "notes"), TRUE)
  expect(dbExistsTable(connection, "absent"), FALSE)
})
check("dbListFields", function() expect(dbListFields(connection, "notes"), c("id", "title", "score")))
check("dbColumnInfo", function() {
  result <- dbSendQuery(connection, "SELECT id, title, score FROM notes")
  columns <- dbColumnInfo(result)
  dbClearResult(result)
  expect(columns$name, c("id", "title", "score"))
})
check("dbWriteTable and dbReadTable", function() {
  frame <- data.frame(n = c(1L, 2L, 3L), x = c(0.5, 1.5, NA), t = c("a", "b\tb", "c"), stringsAsFactors = FALSE)
  dbWriteTable(connection, "written", frame, row.names = FALSE)
  read <- dbReadTable(connection, "written")
  expect(read$n, c(1, 2, 3))
  expect(read$x, c(0.5, 1.5, NA))
  expect(read$t, frame$t)
})
check("dbWriteTable appends and overwrites", function() {
  more <- data.frame(n = 4L, x = 2.5, t = "d", stringsAsFactors = FALSE)
  dbWriteTable(connection, "written", more, row.names = FALSE, append = TRUE)
  expect(query("SELECT count(*) AS n FROM written")$n, 4)
  dbWriteTable(connection, "written", more, row.names = FALSE, overwrite = TRUE)
  expect(query("SELECT count(*) AS n FROM written")$n, 1)
})
check("dbRemoveTable", function() {
  dbRemoveTable(connection, "written")
  expect(dbExistsTable(connection, "written"), FALSE)
})
check("transactions", function() {
  dbBegin(connection)
  dbSendQuery(connection, "INSERT INTO notes VALUES (3, 'three', 3.5)")
  dbRollback(connection)
  expect(query("SELECT count(*) AS n FROM notes")$n, 2)
  dbBegin(connection)
  dbSendQuery(connection, "INSERT INTO child VALUES (1, 1, 1)")
  dbCommit(connection)
  expect(query("SELECT count(*) AS n FROM child")$n, 1)
})
check("fetching in parts", function() {
  result <- dbSendQuery(connection, "SELECT i, j FROM X ORDER BY i, j")
  expect(nrow(fetch(result, n = 5)), 5)
  expect(nrow(fetch(result, n = -1)), 7)
  dbClearResult(result)
})
check("an error", function() {
  found <- suppressWarnings(tryCatch(query("SELECT tittle FROM notes"), error = function(e) NULL))
  expect(is.null(found), TRUE)
  expect(query("SELECT 1 AS n")$n, 1)
})
check("EINSUM", function() expect(query("EINSUM Z[i] = SUM(X[i,j])")$val, c(3, 11, 19)))
check("a tensor as a matrix", function() {
  cells <- query("SELECT i, j, val FROM X")
  matrix <- xtabs(val ~ i + j, cells)
  expect(as.vector(matrix[2, ]), c(2, 2.5, 3, 3.5))
})

invisible(dbDisconnect(connection))
quit(status = failures > 0)
