# Loads the files that write.py wrote, and compares them with what it says is in them; so also what is known of Julia's own types.
#
#     julia tests/julia/check.jl FOLDER
#
# Prints `name => repr` for each. The exit status is 1 where one is another value, of another type, or can't be loaded.
# What is expected is an expression: texts of `repr` differ between versions of Julia.

using BSON, Dates, LinearAlgebra, Random, SparseArrays, UUIDs

struct Point; x::Float64; y::Float64; end
struct RGB; r::UInt8; g::UInt8; b::UInt8; end
struct Wrapper{T}; x::T; n::Int; end
struct FixedVec{N,T}; data::NTuple{N,T}; end
struct Person; name::String; age::Union{Int,Missing}; tags::Vector{Symbol}; end
mutable struct Counter; n::Int; end
mutable struct Node; name::String; next::Any; end
mutable struct TreeNode; val::Int; children::Vector{TreeNode}; parent::Union{TreeNode,Nothing}; end
@enum Fruit apple=1 banana=2 kiwi=7
module Lab
module Inner
struct Deep; v::Int; end
end
end

# `repr` tells floats, types and order; the order of a Dict may be another after loading.
same(a, b) = typeof(a) == typeof(b) && (isequal(a, b) || repr(a) == repr(b))

# What is wrong with a value; "" if nothing.
function fault(value, expression, test)
  if !isempty(expression)
    expected = Core.eval(Main, Meta.parse(expression))
    same(value, expected) || return "expected $(repr(expected)) of $(typeof(expected)), found one of $(typeof(value))"
  end
  if !isempty(test)
    holds = Core.eval(Main, Meta.parse(test))
    Base.invokelatest(holds, value) === true || return "$test: does not hold"
  end
  return ""
end

function check(folder)
  wrong, total = 0, 0
  for line in eachline(joinpath(folder, "expected.txt"))
    name, expression, test = split(line, '\t')
    total += 1
    problem = try
      value = BSON.load(joinpath(folder, string(name, ".bson")))[:value]
      # Many paths lead through some: their text would have no end.
      println(name, " => ", isempty(expression) ? string("a ", typeof(value).name.name) : repr(value))
      fault(value, expression, test)
    catch problem
      sprint(showerror, problem)
    end
    if !isempty(problem)
      wrong += 1
      println("  WRONG: ", problem)
    end
  end
  println(total - wrong, " of ", total, " values are as expected")
  return wrong == 0 && total > 0
end

found(path) = foldl((inside, name) -> getfield(inside, Symbol(name)), split(path, '.'); init=Main)
datatype(path) = Base.unwrap_unionall(found(path))

# What is written down of Julia's own types, and isn't so.
function check_known(folder)
  wrong, total = 0, 0
  for line in eachline(joinpath(folder, "known.txt"))
    kind, name, more = split(line * "  ", ' '; limit=3)
    total += 1
    holds = try
      if kind == "fields"
        collect(string.(fieldnames(datatype(name)))) == split(more)
      elseif kind == "mutable"
        datatype(name).mutable
      else
        found(strip(more)) === getfield(isdefined(Base, Symbol(name)) ? Base : Core, Symbol(name))
      end
    catch
      false
    end
    holds && continue
    wrong += 1
    println("WRONG: ", line)
  end
  println(total - wrong, " of ", total, " facts about Julia's types hold")
  return wrong == 0
end

length(ARGS) == 1 || error("usage: check.jl FOLDER")
results = check(ARGS[1]), check_known(ARGS[1])
exit(all(results) ? 0 : 1)
