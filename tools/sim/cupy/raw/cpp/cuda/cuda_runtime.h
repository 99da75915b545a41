// All of it is in simt.h, which is included before every source.
#pragma once
