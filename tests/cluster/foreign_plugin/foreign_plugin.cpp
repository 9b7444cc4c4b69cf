/// An MPI plugin of another build: only its contract function may be called.
extern "C" __attribute__((visibility("default"))) const char* eindb_mpi_contract() { return "another"; }
