# Values of every kind that `trip.jl` has BSON.jl write, for Python to load and write again. One expression a line.

module Lot

using Dates, LinearAlgebra, Random, SparseArrays, UUIDs

const VALUES = Pair{String,Any}[]

# What this version of Julia has no value for is passed over.
function made(text, make)
  try
    push!(VALUES, text => make())
  catch problem
    println("no value: ", text, ": ", first(sprint(showerror, problem), 100))
  end
end

macro values(block)
  lines = filter(line -> !(line isa LineNumberNode), block.args)
  return Expr(:block, (:(made($(string(line)), () -> $(esc(line)))) for line in lines)...)
end

struct P; x::Float64; y::Float64; end
struct Padded; a::Int8; b::Int64; c::Bool; end
struct Small; a::UInt8; b::UInt8; end
struct Nothings; a::Nothing; b::Int; end
struct Ids; id::UUID; letter::Char; day::Date; end
struct Empty end
struct Box{T}; x::T; end
struct Two{A,B}; x::A; y::B; end
struct Tagged{T}; n::Int; end
struct Fixed{N,T}; data::NTuple{N,T}; end
mutable struct Cell; v::Any; end
mutable struct CellOf{T}; v::T; end
mutable struct Marked{T}; n::Int; end
mutable struct Partly; a::Any; b::Any; Partly() = new(); end
struct Held; items::Vector{Any}; end
struct Tower{T<:Real} <: Real; x::T; end
@enum Color::UInt8 red=1 green=255
@enum Signed8::Int8 minus=-1 plus=1
@enum Large::Int64 huge=9000000000 negative=-9000000000
@enum Wide::Int128 widest=170141183460469231731687303715884105727
@enum Plain one=1 two=2
primitive type Word16 16 end
word(n) = reinterpret(Word16, UInt16(n))
module Δ′; struct ∇ϵ; ϵ::Int; ε::Int; σ²::Float64; end; end

id(n) = UUID(UInt128(n))
# A cell, and what is made of it and put into it.
function within(make, cell=Cell(nothing))
  cell.v = make(cell)
  return cell
end
# What is made of a cell, and is in it.
around(make) = within(make).v
twice(x) = Any[x, x]

@values begin
  # Numbers as parameters of types.
  Val(Int8(-5)); Val(Int16(5)); Val(Int64(5)); Val(Int128(2)^100); Val(0x05); Val(0x0005); Val(0x00000005); Val(UInt64(5)); Val(typemax(UInt128))
  Val(Float16(1.5)); Val(1f0); Val(1.0); Val(0.1f0); Val(-0.0); Val(NaN); Val(-Inf); Val(NaN32); Val(reinterpret(Float64, 0x7ff8000000000123)); Val(1f20)
  Val(true); Val('c'); Val('é'); Val('\''); Val(reinterpret(Char, 0xff000000)); Val(nothing); Val(missing); Val(:a); Val(Symbol("a b")); Val(:+); Val(Int); Val(Vector)
  Val(Union{Int,Missing}); Val(Union{}); Val(1 + 2im); Val(1f0 + 2f0im); Val(3//4); Val(Int8(3)//Int8(4)); Val(1:3); Val(1:2:5); Val(id(7)); Val(Date(2020)); Val(DateTime(2020)); Val(Day(1)); Val(Time(1))
  Val(red); Val(huge); Val(widest); Val(two); Val(minus); Val(word(5)); Val(P(1, 2)); Val(Padded(1, 2, true)); Val(Small(1, 2)); Val(Ids(id(1), 'x', Date(2020))); Val(Empty()); Val(Val(0x01)); Val(Val(Val(1f0)))
  Val(()); Val((0x01,)); Val((0x01, 0x02)); Val((1, 2)); Val((1, 0x02)); Val((1f0, 'c', :a)); Val(((0x01, 2), (3f0,))); Val((a=1, b=0x02)); Val((a=(b=0x01,),)); Val((P(1, 2),)); Val((P(1, 2), 0x01)); Val((red, huge)); Val((nothing, 0x01)); Val((id(1), Date(1)))
  Val(Some(0x01)); Val(1 => 0x02); Val(Box(P(1, 2))); Val(Two(0x01, P(1, 2))); Val((Two(0x01, 'c'), 1)); Val(C_NULL); Val((C_NULL,)); Val(CartesianIndex(1, 2)); Val(Base.OneTo(3))
  Two{1,2}; Two{0x01,0x02}; Two{0x01,2}; Two{1,2.5}; Two{1f0,2.5}; Two{true,1}; Two{true,false}; Two{'a','b'}; Two{:a,:b}; Two{:a,1}; Two{Int,0x01}; Two{Int,1f0}; Two{P(1, 2),P(3, 4)}; Two{P(1, 2),Int}; Two{red,Int}; Two{red,green}; Two{huge,negative}; Two{word(1),Int}; Two{(0x01,),(0x02,)}; Two{(0x01,),Int}; Two{(1,),(2, 3)}; Two{(),()}; Two{nothing,Int}; Two{1 + 2im,Int}; Two{id(1),Int}; Two{Val{0x05},Val{1f0}}
  Tagged{0x05}(1); [Tagged{0x05}(1), Tagged{0x05}(2)]; Tagged{P(1, 2)}(1); [Tagged{P(1, 2)}(1)]; Any[Tagged{1f0}(1), Tagged{1.0}(1), Tagged{1}(1), Tagged{true}(1)]; Marked{0x05}(1); Any[Marked{0x05}(1), Marked{0x05}(2), Marked{0x06}(3)]; twice(Marked{1f0}(1)); Any[Marked{P(1, 2)}(1), Marked{P(1, 2)}(2)]; Any[Marked{true}(1), Marked{true}(2)]
  Dict(Tagged{0x05}(1) => Tagged{0x06}(2)); Set([Tagged{1f0}(1)]); (a=Tagged{(0x01,)}(1),); Box(Tagged{'c'}(1)); Vector{Tagged{0x05}}; Dict{Val{0x05},Val{1f0}}; Two{Int8(1),T} where T; NamedTuple{(:a, :b),Tuple{Val{0x01},Val{'c'}}}; Tuple{Val{0x01},Vararg{Val{1f0}}}; Array{Int,2}; Array{T,1} where T; Type{Val{0x01}}; Fixed((0x01, 0x02)); Fixed((P(1, 2),)); Ref(Tagged{0x05}(1)); Some(Val(0x05)); Val{0x05}; Val

  # Arrays.
  [id(1), id(2)]; [id(1) id(2); id(3) id(4)]; reshape([id(n) for n in 1:8], 2, 2, 2); fill(id(1)); UUID[]; zeros(UInt128, 0); Union{UUID,Nothing}[id(1), nothing]; Any[id(1)]; Box([id(1)]); Dict(id(1) => id(2)); Dict(id(1) => [id(2)]); Set([id(1)]); [(id(1), 1), (id(2), 2)]; [(id=id(1), day=Date(1))]; [id(1) => 'c']; [Ids(id(1), 'x', Date(2020)), Ids(id(2), 'é', Date(2021))]
  [(), ()]; [() ()]; fill(()); Tuple{}[]; [nothing nothing]; Nothing[]; [missing]; Missing[]; [NamedTuple(), NamedTuple()]; [Empty(), Empty()]; [Empty() Empty()]; Empty[]; [Val(1), Val(1)]; [Val(0x05) Val(0x05)]; [((),), ((),)]; [(nothing,)]; [(nothing, 1), (nothing, 2)]; [Nothings(nothing, 1)]; [Box(nothing), Box(nothing)]; [Some(()), Some(())]; [Val((0x01,))]; Dict(() => ()); Dict(nothing => nothing); Dict(Empty() => Empty()); Set([()]); Set([nothing]); Set([missing]); Set([Empty()])
  ['a', '\0', '\U10ffff']; [reinterpret(Char, 0xff000000), 'a']; ['a' reinterpret(Char, 0xff000000)]; fill('é'); Char[]; [Date(2020), Date(1, 1, 1)]; [Date(-5000)]; Date[]; fill(Date(2020)); [DateTime(2020) DateTime(-1)]; [typemin(DateTime)]; [Time(1, 2, 3, 4, 5, 6)]; fill(Time(0)); [Nanosecond(1) Nanosecond(2)]; [Year(1)]; [Week(typemax(Int))]; Union{Date,Missing}[Date(1), missing]; [red, green]; [red green]; Color[]; [huge, negative]; [widest]; [minus, plus]; [one two]; fill(red); [word(1), word(2)]; [word(1) word(2)]; fill(word(1))
  Int128[1 -1; 2 typemin(Int128)]; [typemax(UInt128)]; fill(Int128(1)); Float16[1.5 NaN; -0.0 Inf16]; ComplexF16[1 + 2im]; ComplexF32[1 2im]; Complex{Int8}[1 + 2im]; Complex{Bool}[im]; [1//2 + 3im]; [1//2 3//4]; Complex{BigInt}[1]; [big(1)//2]; Bool[1 0; 0 1]; fill(true); [P(1, 2) P(3, 4)]; fill(P(1, 2)); [Padded(1, 2, true), Padded(-1, -2, false)]; [Small(1, 2)]; [Box(Small(1, 2))]; [Box(0x01), Box(0x02)]; [Two(0x01, 2)]; [Fixed((0x01, 0x02, 0x03))]; [ntuple(n -> UInt8(n), 20)]; [(a=1, b=(c=2f0, d='x'))]; [1 => (2 => 3)]; [CartesianIndex(1, 2)]; [1:2, 3:4]; [1:2:5]; [Some(1)]; [C_NULL]; [Base.TwicePrecision(1.0)]
  fill("a"); fill([1]); fill(nothing); fill(Any[1]); ["a" "b"]; Array{String}(undef, 0, 2); Array{Any}(undef, 0); Matrix{Any}(undef, 0, 0); [[1] [2]]; [[1 2], [3 4]]; Any[[] []]; [:a :b]; [1 "a"]; [nothing missing]; Union{Int,Missing}[1 missing]; Union{Int,Float64}[1 2.0]; Vector{Vector{UInt8}}([[0x01], []]); [UInt8[1] UInt8[2]]; Type[Int Float64]; [Int Vector]; [sin cos]; Real[1 2.0]; reshape(Any[1, "a", :b, nothing, missing, 1f0, 'c', 0x01], 2, 2, 2); [Cell(1) Cell(2)]; [Held([]) Held([1])]; twice(fill("a")); twice(fill(1.5)); twice([id(1)]); twice([P(1, 2)]); twice(['a']); twice([Date(1)]); twice([red]); twice(UInt8[1]); twice(UInt8[]); twice([]); twice([() ()]); twice(Float64[])

  # Tables.
  Dict('a' => 1, 'b' => 2); Dict("a" => 1, :a => 2); Dict{Any,Any}('a' => 1, "a" => 2, :a => 3); Dict(SubString("abc", 1, 2) => SubString("abc", 2, 3)); Dict{Any,Any}(SubString("abc", 1, 1) => 1, "a" => 1); Dict{AbstractString,Int}(SubString("abc", 1, 1) => 1); Dict((1, 'c') => 0x01); Dict((0x01, 2f0) => (3, 'c')); Dict(red => huge); Dict(two => 1); Dict(word(1) => word(2)); Dict(P(1, 2) => P(3, 4)); Dict((P(1, 2),) => 1); Dict(Box(1) => 2); Dict(Cell(1) => 2); Dict(NaN => 1, -0.0 => 2, 0.0 => 3); Dict(1 => 1, 1.5 => 2); Dict{Any,Any}(1 => 1, "1" => 2, '1' => 3); Dict{Any,Any}(0x01 => 1, 2f0 => 2); Dict(true => false); Dict(Int128(1) => 2); Dict(1.5f0 => Float16(2)); Dict([1] => 2); Dict([1 2] => 2); Dict(Dict(1 => 2) => 3); Dict(Set([1]) => 2); Dict(Int => Float64); Dict(Int => 1, Vector => 2); Dict(Base => 1); Dict(sin => 1); Dict((a=1,) => 2); Dict((1 => 2) => 3); Dict(1:2 => 3); Dict(Date(1) => Time(1)); Dict(Day(1) => Year(1)); Dict(1//2 => 3); Dict(im => 1); Dict(missing => 1, nothing => 2); Dict(Val(0x01) => 1); Dict(:a => 1); Dict(:a => 1, :b => "x"); Dict{Symbol,Int}(); Dict{Symbol,Any}(:a => Dict{Symbol,Any}(:b => [1])); Dict{Any,Any}(:a => 1); Dict{String,Any}(); Dict("x" => 0x01, "y" => 0x02); Dict("x" => 1.5f0); Dict("x" => 'c'); Dict("x" => P(1, 2)); Dict("x" => red); Dict("x" => ()); Dict{Union{Int,String},Any}(1 => 2, "a" => 3); Dict{Color,Dict{Char,UUID}}(red => Dict('c' => id(1)))
  IdDict(1 => 2); IdDict{Any,Any}(1 => 1, 1.0 => 2, true => 3); IdDict([1] => 2, [1] => 3); IdDict{Symbol,Int}(:a => 1); IdDict(Cell(1) => Cell(2)); IdDict('a' => 1, "a" => 2); WeakKeyDict(); Base.IdSet{Any}(Any[1, "a"])
  Set([1, 2]); Set('a':'c'); Set("abc"); Set([SubString("abc", 1, 2)]); Set([red]); Set([word(1)]); Set([P(1, 2)]); Set([(1, 'c')]); Set([0x01]); Set([1f0, NaN32]); Set(Any[1, "1", '1']); Set(Any[:a, "a"]); Set(Any[[1], [1, 2]]); Set{Union{}}(); Set{Any}(); Set([Set([1])]); Set([Dict(1 => 2)]); Set([Cell(1), Cell(1)]); Set([Int, Vector]); Set([nothing, missing]); BitSet([1, 100]); BitSet(); twice(BitSet([1])); keys(Dict(1 => 2)); values(Dict(1 => 2)); pairs([1, 2]); pairs((a=1,)); keys((a=1,))
  twice(Set([1])); twice(Set(["a"])); twice(Set{Any}()); twice(Set(Any[:a, "a"])); (x = Set([1]); Any[x, Set([1]), x, (x,), Dict(1 => x), Some(x)]); (x = Set([Cell(1)]); Any[x, first(x), x]); twice(Set([Set([1])])); (x = Set([1]); Set([x])); (x = Set([1]); Any[x, Dict(x => x)])

  # Sharing and cycles.
  around(c -> Set([c])); within(c -> Set([c])); twice(around(c -> Set([c]))); around(c -> Set(Any[c, 1, "a"])); around(c -> Set([Some(c)])); within(c -> (c,)); around(c -> (c, (c,))); twice(around(c -> (c,))); around(c -> (a=c,)); within(c -> (a=c, b=[c])); around(c -> Some(c)); within(c -> Some(c)); around(c -> c => c); twice(around(c -> c => c)); around(c -> Dict(c => 1)); around(c -> Dict(1 => c)); around(c -> Dict(c => c, 1 => 2)); twice(around(c -> Dict([1] => c))); around(c -> Dict([c] => c)); around(c -> Dict("a" => c)); around(c -> Dict(:a => c)); around(c -> IdDict(c => c)); around(c -> Any[c]); around(c -> [c, c]); around(c -> [c c]); around(c -> fill(c)); around(c -> Ref{Any}(c)); within(c -> c); within(c -> Held([c])); around(c -> Held([c])); around(c -> Held([c, Held([c])])); around(c -> Box(c)); twice(around(c -> Box(c))); around(c -> CellOf(c)); within(c -> Core.svec(c)); within(c -> Expr(:call, c)); within(c -> QuoteNode(c)); within(c -> view(Any[c], 1:1)); within(c -> transpose(Any[c c])); within(c -> Core.Box(c)); within(c -> WeakRef(c))
  (d = Dict{Any,Any}(); d[1] = d; d); (d = Dict{Any,Any}(); d[[1]] = d; d); (d = Dict{Any,Any}(); d["x"] = d; d["y"] = [d]; d); (d = IdDict{Any,Any}(); d[d] = d; d); (d = IdDict{Any,Any}(); d[d] = 1; Any[d, d]); (d = IdDict{Any,Any}(); e = IdDict{Any,Any}(d => d); d[e] = e; d); (d = Dict{Symbol,Any}(); d[:d] = d; d); (d = Dict{Symbol,Any}(); d[:d] = (d, [d], Some(d)); d); (d = Dict{Any,Any}(); d[Cell(d)] = 1; d); (d = Dict{Any,Any}(); c = Cell(d); d[c] = c; Any[c, d])
  (r = Ref{Any}(); r[] = r; r); (r = Ref{Any}(); r[] = (r, Set([r])); r); (a = [1.0, 2.0]; Any[a, view(a, 1:1), transpose(a), Diagonal(a), a', reshape(a, 1, 2), (a,), Some(a), Dict(1 => a)]); (s = "abc"; Any[s, SubString(s, 1, 2), SubString(s, 2, 3)]); (x = Any[]; Any[x, (x,), (a=x,), Some(x), x => x, Box(x), Held(x)]); (x = trues(3); Any[x, x]); (x = UInt8[1]; Any[x, x, (x,)]); (x = Cell(1); Any[x, Dict(x => x), Set([x]), IdDict(x => x)]); (x = Any[]; Two(x, x)); (x = MersenneTwister(1); Any[x, x]); Any[Cell, Cell, Cell(1), Cell(2), CellOf{Int}, CellOf(1), CellOf(2)]; Any[Vector{Int}, Vector{Int}]; Any[Dict{Int,Int}, Dict(1 => 2)]; Any[Module, Module, DataType, DataType, String, String, Symbol, Symbol, Core.SimpleVector, Core.SimpleVector]; Any[BitSet, BitSet]; Any[Regex, Regex]; (T = TypeVar(:T); Any[UnionAll(T, Vector{T}), UnionAll(T, Vector{T})])
  foldl((a, i) -> Cell(a), 1:300; init=nothing); foldl((a, i) -> (a,), 1:50; init=nothing); foldl((a, i) -> Dict{Symbol,Any}(:a => a, :b => a), 1:10; init=nothing); foldl((a, i) -> Cell((a, a)), 1:10; init=nothing)

  # Text.
  ""; "\0"; "é∑🎈"; String(UInt8[0xff, 0x61]); "\ufeffx"; SubString("", 1, 0); SubString("abc"); SubString(String(UInt8[0xff, 0x61]), 2, 2); SubString(SubString("abcd", 2, 4), 2, 3); Symbol(""); Symbol("a.b"); Symbol("é"); Symbol("\$x"); :ϵ; 'a'; '\0'; '\ud800'; '\U10ffff'; reinterpret(Char, 0x00000001); reinterpret(Char, 0xc0800000); r"a.b"i; s"\1"; v"1.2.3-rc1+b"; b"abc"; codeunits("abc"); `ls -l`; Base.CodeUnits("x")
  Dict(Symbol("") => 1); Dict(Symbol("a.b") => 1, Symbol("_backrefs") => 2); Dict(:tag => "x"); Dict("tag" => "tuple"); (ϵ=1, ε=2, σ²=3.0); Δ′.∇ϵ(1, 2, 3.0); [Δ′.∇ϵ(1, 2, 3.0)]; Dict(:ϵ => 1)

  # Numbers and times.
  typemin(Int8); typemax(UInt128); typemin(Int128); Int32(-1); 0x0000; Float16(NaN); -0.0; NaN; reinterpret(Float32, 0xffc00123); reinterpret(Float64, 0xfff8000000000001); 5e-324; nextfloat(0f0); 1//0; -1//0; Int8(1)//Int8(2); big(1)//3; 1 + 2im; 1f0 + 2im; Complex{Int8}(1, 2); Complex(true, false); (1//2) + im; Complex(big(1.5)); big(1.5); big(0); BigFloat(NaN); BigFloat(-Inf); π; ℯ; Tower(1); Tower(0x01); [Tower(1)]; Base.TwicePrecision(1.0); red; green; huge; negative; widest; minus; two; word(1); (red, huge, minus); Box(red); Color; true; nothing; missing; Some(nothing); Some(missing)
  Date(2020, 2, 29); Date(0); Date(10000); typemin(Date); DateTime(2020, 1, 2, 3, 4, 5, 6); typemax(DateTime); Time(23, 59, 59, 999, 999, 999); Time(0); Day(typemax(Int)); Nanosecond(1001); Microsecond(1); Month(2); Year(-1); Hour(1) + Minute(2); Dates.CompoundPeriod(); Dates.UTInstant(Day(1)); dateformat"y-m-d"; id(0); typemax(UInt128)

  # Ranges, and arrays that are others seen differently.
  1:0; 5:1; 0x01:0x03; Int32(1):Int32(3); big(1):big(3); 1:2:6; 6:-2:1; 1//2:1//2:3; 'a':'e'; 'a':2:'e'; 0.0:0.1:0.3; 0f0:0.1f0:0.3f0; Float16(0):Float16(1); range(0, 1, length=0); range(1, step=2, length=3); LinRange(0f0, 1f0, 3); Base.OneTo(0); Base.OneTo(Int8(3)); Date(2020):Day(1):Date(2021); DateTime(2020):Hour(1):DateTime(2020, 1, 2); Time(1):Minute(1):Time(2); (1:3)'; typemin(Int):typemax(Int)
  [1 + 2im 3]'; [1 2; 3 4]'; [1.5 + 2im]'; ["a" "b"] |> permutedims; transpose([P(1, 2)]); [true false]'; Complex{UInt8}[1 + 2im]'; [1//2 + 3im]'; ComplexF16[1 + 2im]'; [[1 + 2im] [3im]]'; Diagonal([1, 2]); Diagonal([[1 2], [3 4]]); Symmetric([1 2; 3 4]); Hermitian([1 2im; 3 4]); UpperTriangular([1 2; 3 4]); UnitLowerTriangular([1 2; 3 4]); Tridiagonal([1], [1, 2], [3]); SymTridiagonal([1, 2], [3]); Bidiagonal([1, 2], [3], :L); I; 2I; sparse([1], [2], [3 + im]); spzeros(2, 2); sparsevec([1], [2]); lu([1. 2; 3 4]); qr([1. 2; 3 4]); qr([1. 2; 3 4], Val(true)); svd([1. 2; 3 4]); cholesky([2. 1; 1 2]); eigen([2. 1; 1 2]); schur([1. 2; 3 4]); hessenberg([1. 2; 3 4]); ldlt(SymTridiagonal([2., 2], [1.])); bunchkaufman([2. 1; 1 2]); givens(1., 2., 1, 2)[1]
  view([1, 2, 3], 2:3); view([1 2; 3 4], :, 1); view([1 2; 3 4], [1, 2], 1); view(1:10, 2:3); reshape(1:6, 2, 3); reshape(view([1 2; 3 4], :, 1), 1, 2); reinterpret(UInt8, [0x0102]); reinterpret(P, [1.0, 2.0]); PermutedDimsArray([1 2; 3 4], (2, 1)); trues(0); falses(2, 3, 4); BitArray(undef, 0, 3); fill(true, 65) |> BitVector; CartesianIndices((2, 3)); LinearIndices((2, 3)); eachindex([1 2; 3 4]); Base.Slice(1:3); Base.IdentityUnitRange(2:3)

  # Tuples, boxes, types, functions, and what programs are made of.
  (); (1,); (1, 'c', 0x01, 1f0, nothing, missing, :a, "a"); ((),); (a=1,); NamedTuple(); NamedTuple{(:a,),Tuple{Any}}((1,)); NamedTuple{(:a,),Tuple{Union{Int,Missing}}}((1,)); (var"a b"=1,); Ref(1); Ref{Any}(1); Ref{Union{Int,Nothing}}(nothing); Ref([1, 2], 2); Some(Some(1)); 1 => 2 => 3; Pair{Any,Any}(1, 2); Pair{Real,Real}(1, 2.0); Core.svec(); Core.svec(1, Core.svec(2)); Partly(); (p = Partly(); p.b = 1; p); Threads.Atomic{Int}(5); Fixed{0,Int}(()); Box(()); Box(Box(0x01)); Box{Any}(1); Box{Real}(1f0); Box{Union{Int,Nothing}}(nothing); Two{Any,Vector}(1, [2]); Box(Int); Box(Vector); Box(sin); Held(Any[Held(Any[])])
  Int; Any; Union{}; Union{Int,Float64,Missing}; Union{Val{0x01},Nothing}; Vector; Vector{<:Real}; Vector{>:Int}; Array{Int}; Array{Int,N} where N; Dict{K,Vector{K}} where {K<:Number}; Tuple; Tuple{}; Tuple{Int,Vararg{Any}}; Tuple{Vararg{Int,3}}; NTuple{3}; NTuple{N,Int} where N; NamedTuple; NamedTuple{(:a,)}; NamedTuple{(),Tuple{}}; Type; Type{Int}; Type{<:Real}; Ptr{Cvoid}; Ref; Box; Box{Int}; Two{Int}; Fixed{2}; Complex; AbstractArray{Int}; Function; typeof(sin); typeof(+); typeof(===); typeof(!); typeof(<:); typeof(∘); typeof(:); typeof(Core.Intrinsics.add_int); Core.Builtin; Core.IntrinsicFunction; TypeVar(:T); TypeVar(:T, Int, Real); Color; Word16; Δ′.∇ϵ; Module; DataType; UnionAll; Union; typeof(Union{}); Nothing; Missing; Main; Base; Lot; Δ′; LinearAlgebra
  sin; +; ===; !; ∘; identity; Core.Intrinsics.add_int; Base.Fix1(+, 1); Base.Fix2(==, 1); x -> x + 1; (y = 5; x -> x + y); (y = [1]; Any[x -> push!(y, x), y]); (x; k=1) -> x + k; sin ∘ cos; Box(x -> x); (f = x -> x; Any[f, f]); typeof(x -> x); Iterators.filter(isodd, [1]); Iterators.map; zip([1], [2]); enumerate([1]); Iterators.reverse([1]); Iterators.take([1], 1); Iterators.drop([1], 1); Iterators.cycle([1]); Iterators.flatten([[1]]); Iterators.product([1], [2]); Iterators.repeated(1, 2); Iterators.partition([1, 2], 1); Iterators.Stateful([1]); skipmissing([1, missing]); Base.Generator(sin, [1.0]); Base.broadcasted(+, [1], 2); MersenneTwister(1); RandomDevice(); UniformScaling(1f0)
  :(1 + 2); :(f(x; y=1)); quote x = 1 end; QuoteNode(:a); LineNumberNode(1, :f); LineNumberNode(1, nothing); GlobalRef(Base, :sin); Core.SlotNumber(1); Core.SSAValue(1); Core.GotoNode(1); Expr(:a); Expr(:tuple, 0x01, 'c', 1f0); Core.Box(); Core.Box(1); WeakRef(nothing); ErrorException("x"); ArgumentError("x"); BoundsError([1], 2); KeyError(:a); MethodError(sin, ("a",)); DomainError(-1, "x"); UndefVarError(:x); InexactError(:f, Int, 1.5); TypeError(:f, "c", Int, 1); DimensionMismatch("x"); OverflowError("x"); LoadError("f", 1, ErrorException("x")); CompositeException([ErrorException("x")]); StringIndexError("é", 2); EOFError(); DivideError(); IOBuffer("abc"); IOBuffer(); ReentrantLock(); Base.Semaphore(2); Base.Event(); Channel(1); Base.Condition(); Base.SecretBuffer("x"); C_NULL; Ptr{Int}(5); Cstring(C_NULL); RoundNearest; Base.HasShape{1}(); IndexLinear(); Base.Order.Reverse; Base.Order.By(abs); Base.RefValue{Int}(1); text"a"; html"<b>"; MIME("text/plain"); stdout isa IO; Colon(); Enum
end

end
