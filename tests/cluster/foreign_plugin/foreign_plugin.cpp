/// A plugin for MPI as a program of another build would have it: nothing but the question is to be called.
extern "C" __attribute__((visibility("default"))) const char* eindb_mpi_contract() { return "another"; }
