# Values that BSON.jl writes, Python loads and writes again, and BSON.jl loads.
#
#     julia tests/julia/trip.jl write FOLDER [VALUES]     writes FOLDER/there/NAME.bson
#     julia tests/julia/trip.jl compare FOLDER [VALUES]   compares them with FOLDER/again/NAME.bson
#
# VALUES: a folder with more expressions, in values.jl and values2.jl. What BSON.jl itself can't write or load is passed over.
# The exit status is 1 where one is another value than it was, or wasn't written again though BSON.jl can load it.

using BSON

include("same.jl")
include("values.jl")

const there, again = joinpath(ARGS[2], "there"), joinpath(ARGS[2], "again")
# By name: the expression's text and the value.
const values = Dict("lot_$place" => value for (place, value) in enumerate(Lot.VALUES))
if length(ARGS) > 2
  include(joinpath(ARGS[3], "values.jl"))
  include(joinpath(ARGS[3], "values2.jl"))
  merge!(values, Dict(name => name => value for (name, value) in V))
end

passed_over(verb, text, problem) =
  println("BSON.jl itself can't ", verb, " ", text, ": ", first(replace(sprint(showerror, problem), '\n' => ' '), 100))

function write_all()
  mkpath(there)
  refused = 0
  for (name, (text, value)) in values
    path = joinpath(there, "$name.bson")
    try
      BSON.bson(path, Dict(:value => value))
    catch problem
      refused += 1
      passed_over("write", text, problem)
      rm(path, force=true)
    end
  end
  println(length(values) - refused, " files of BSON.jl's")
end

function compare_all()
  names = sort(readdir(there))
  wrong, total = 0, 0
  for name in names
    text = haskey(values, name[1:end-5]) ? values[name[1:end-5]][1] : name
    value = try
      BSON.load(joinpath(there, name))[:value]
    catch problem
      passed_over("load", text, problem)
      continue
    end
    total += 1
    try
      compare(value, BSON.load(joinpath(again, name))[:value])
    catch problem
      wrong += 1
      println("WRONG: ", text, " (", name, "): ", first(sprint(showerror, problem), 600))
    end
  end
  println(total - wrong, " of ", total, " files that were written again hold what they held")
  return wrong == 0 && total > 0
end

ARGS[1] == "write" ? write_all() : exit(compare_all() ? 0 : 1)
