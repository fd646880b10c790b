# `compare(a, b)`: are two values the same graph: types at every depth, bits, and which objects are one?

struct Difference <: Exception
  text::String
end
Base.showerror(io::IO, difference::Difference) = print(io, difference.text)

# Which object stands for which, both ways.
mutable struct Met
  there::IdDict{Any,Any}
  back::IdDict{Any,Any}
end
Met() = Met(IdDict{Any,Any}(), IdDict{Any,Any}())

differ(path, a, b) = throw(Difference(string(path, ": ", first(repr(a), 300), " and ", first(repr(b), 300))))

# The type of a function without a name: BSON.jl defines it anew for each load.
is_anonymous(type) = type isa DataType && type <: Function && occursin(r"^#+\d|#\d+$", string(type.name.name))
function same_type(a, b)
  a === b && return true
  a isa DataType && b isa DataType && length(a.parameters) == length(b.parameters) || return false
  (a.name === b.name || is_anonymous(a) && is_anonymous(b)) || return false
  return all(pair -> pair[1] === pair[2] || same_type(pair...), zip(a.parameters, b.parameters))
end

function compare(a, b, path="value", met=Met())
  same_type(typeof(a), typeof(b)) || differ(path, typeof(a), typeof(b))
  a isa Union{Module,Symbol} && return a === b || differ(path, a, b)
  a isa Type && return a == b || same_type(a, b) || differ(path, a, b)
  a isa String && return a == b || differ(path, a, b)
  a isa Core.TypeName && return true
  isbits(a) && typeof(a) === typeof(b) && return a === b || differ(path, a, b)
  if !isimmutable(a)
    if haskey(met.there, a) || haskey(met.back, b)
      one = get(met.there, a, met) === b && get(met.back, b, met) === a
      return one || throw(Difference("$path: is shared with others"))
    end
    met.there[a], met.back[b] = b, a
  end
  if a isa Array
    size(a) == size(b) || differ(path, size(a), size(b))
    for place in eachindex(a)
      isassigned(a, place) == isassigned(b, place) || throw(Difference("$path[$place]: assigned and not"))
      isassigned(a, place) && compare(a[place], b[place], "$path[$place]", met)
    end
  elseif a isa Union{Dict,IdDict}
    tables(a, b, path, met)
  elseif a isa Core.SimpleVector
    length(a) == length(b) || differ(path, a, b)
    foreach(place -> compare(a[place], b[place], "$path[$place]", met), 1:length(a))
  else
    for place in 1:nfields(a)
      name = "$path.$(fieldname(typeof(a), place))"
      isdefined(a, place) == isdefined(b, place) || throw(Difference("$name: set and not"))
      isdefined(a, place) && compare(getfield(a, place), getfield(b, place), name, met)
    end
  end
  return true
end

# Their order may be another one: each item has its equal among those that are left.
function tables(a, b, path, met)
  length(a) == length(b) || differ(path, length(a), length(b))
  left = collect(b)
  for (key, value) in a
    found = nothing
    for (place, (other, item)) in enumerate(left)
      trial = Met(copy(met.there), copy(met.back))
      try
        compare(key, other, "$path: a key", trial)
        compare(value, item, "$path: a value", trial)
        found = place, trial
        break
      catch problem
        problem isa Difference || rethrow()
      end
    end
    found === nothing && differ("$path: an item", key => value, left)
    deleteat!(left, found[1])
    met.there, met.back = found[2].there, found[2].back
  end
end
