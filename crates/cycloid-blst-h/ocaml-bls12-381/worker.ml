(* The operations of ocaml-bls12-381's own benchmark, one row each. `turns.ml` runs two of these
   programs, linked with two libraries.

   Reads lines `ROW RUNS` and responds with nanoseconds of processor time. `ROW 0` responds with the
   result in hexadecimal, so that both libraries are seen to compute the same. Prints the names of
   the rows first. *)

open Bls12_381

(* Both programs draw the same inputs. *)
let state = Random.State.make [| 381 |]
let clock () = int_of_float (1e9 *. Sys.time ())

type row = { name : string; run : int -> unit; show : unit -> string }

let row name show work =
  let work = Lazy.from_fun work in
  {
    name;
    run =
      (fun runs ->
        let work = Lazy.force work in
        for _ = 1 to runs do
          ignore (Sys.opaque_identity (work ()))
        done);
    show = (fun () -> show ((Lazy.force work) ()));
  }

let bytes = Bytes.to_string
let fr x = bytes (Fr.to_bytes x)
let random_fr () = Fr.random ~state ()

let fr_rows =
  let a = random_fr () and b = random_fr () in
  let out = Fr.copy Fr.one in
  let place work () = work (); out in
  let exponent = Fr.to_z b and encoded = Fr.to_bytes a and square = Fr.square a in
  let many = lazy (List.init 100_000 (fun _ -> random_fr ())) in
  let of_option = function Some x -> fr (Fr.square x) | None -> "none" in
  [
    row "Fr: add" fr (fun () () -> Fr.add a b);
    row "Fr: add in place" fr (fun () -> place (fun () -> Fr.add_inplace out a b));
    row "Fr: multiply" fr (fun () () -> Fr.mul a b);
    row "Fr: multiply in place" fr (fun () -> place (fun () -> Fr.mul_inplace out a b));
    row "Fr: negate" fr (fun () () -> Fr.negate a);
    row "Fr: negate in place" fr (fun () -> place (fun () -> Fr.negate_inplace out a));
    row "Fr: subtract" fr (fun () () -> Fr.sub a b);
    row "Fr: subtract in place" fr (fun () -> place (fun () -> Fr.sub_inplace out a b));
    row "Fr: square" fr (fun () () -> Fr.square a);
    row "Fr: square in place" fr (fun () -> place (fun () -> Fr.square_inplace out a));
    row "Fr: invert" fr (fun () () -> Fr.inverse_exn a);
    row "Fr: invert in place" fr (fun () -> place (fun () -> Fr.inverse_exn_inplace out a));
    row "Fr: power" fr (fun () () -> Fr.pow a exponent);
    row "Fr: double" fr (fun () () -> Fr.double a);
    row "Fr: double in place" fr (fun () -> place (fun () -> Fr.double_inplace out a));
    row "Fr: of bytes" fr (fun () () -> Fr.of_bytes_exn encoded);
    row "Fr: to bytes" bytes (fun () () -> Fr.to_bytes a);
    row "Fr: square root" of_option (fun () () -> Fr.sqrt_opt square);
    row "Fr: copy" fr (fun () () -> Fr.copy Fr.zero);
    row "Fr: add a list of 100,000" fr (fun () ->
        let many = Lazy.force many in
        fun () -> Fr.add_bulk many);
    row "Fr: add 100,000 in a fold" fr (fun () ->
        let many = Lazy.force many in
        fun () -> List.fold_left Fr.add Fr.zero many);
    row "Fr: multiply a list of 100,000" fr (fun () ->
        let many = Lazy.force many in
        fun () -> Fr.mul_bulk many);
    row "Fr: multiply 100,000 in a fold" fr (fun () ->
        let many = Lazy.force many in
        fun () -> List.fold_left Fr.mul Fr.one many);
  ]

(* The powers of a root of unity of order 2^log. *)
let domain log =
  let odd = Z.shift_right (Z.pred Fr.order) 32 in
  let root = Fr.pow (Fr.of_int 7) (Z.shift_left odd (32 - log)) in
  let power = ref Fr.one in
  Array.init (1 lsl log) (fun _ ->
      let this = !power in
      power := Fr.mul this root;
      this)

let transform_rows =
  let domain = lazy (domain 16) in
  let points = lazy (Array.init 65536 (fun _ -> random_fr ())) in
  let ready work () =
    let domain = Lazy.force domain and points = Lazy.force points in
    fun () -> work ~domain ~points
  in
  let show points = fr points.(1) in
  [
    row "Fr: transform of 2^16" show (ready Fr.fft);
    row "Fr: inverse transform of 2^16" show (ready Fr.ifft);
    row "Fr: transform of 2^16 in place" show
      (ready (fun ~domain ~points ->
           Fr.fft_inplace ~domain ~points;
           points));
  ]

module Group (G : CURVE) = struct
  (* Points with a Z other than 1, as sums have. *)
  let random () = G.double (G.random ~state ())
  let show p = bytes (G.to_compressed_bytes p)

  let rows name =
    let row = fun title -> row (name ^ ": " ^ title) in
    let p = random () and q = random () and scalar = random_fr () in
    let encoded = G.to_bytes p and compressed = G.to_compressed_bytes p in
    let affine = G.affine_of_jacobian p in
    let message = Bytes.make 256 'm' and tag = Bytes.make 24 't' in
    let list n =
      lazy
        (let p = ref p in
         List.init n (fun _ ->
             p := G.add !p q;
             !p))
    in
    let many = list 65536 in
    let pairs log =
      lazy
        ( Array.init (1 lsl log) (fun _ -> G.mul p (random_fr ())),
          Array.init (1 lsl log) (fun _ -> random_fr ()) )
    in
    let few = pairs 8 and more = pairs 12 in
    [
      row "multiply" show (fun () () -> G.mul p scalar);
      row "double" show (fun () () -> G.double p);
      row "add" show (fun () () -> G.add p q);
      row "negate" show (fun () () -> G.negate p);
      row "of bytes" show (fun () () -> G.of_bytes_exn encoded);
      row "to bytes" bytes (fun () () -> G.to_bytes p);
      row "of compressed bytes" show (fun () () -> G.of_compressed_bytes_exn compressed);
      row "to compressed bytes" bytes (fun () () -> G.to_compressed_bytes p);
      row "hash to curve" show (fun () () -> G.hash_to_curve message tag);
      row "affine to Jacobian" show (fun () () -> G.jacobian_of_affine affine);
      row "Jacobian to affine"
        (fun p -> show (G.jacobian_of_affine p))
        (fun () () -> G.affine_of_jacobian p);
      row "add a list of 65,536" show (fun () ->
          let many = Lazy.force many in
          fun () -> G.add_bulk many);
      row "add 65,536 in a fold" show (fun () ->
          let many = Lazy.force many in
          fun () -> List.fold_left G.add G.zero many);
      row "transform of 2^8"
        (fun points -> show points.(1))
        (fun () ->
          let points, _ = Lazy.force few and domain = domain 8 in
          fun () -> G.fft ~domain ~points);
      row "sum of 2^12 multiples" show (fun () ->
          let points, scalars = Lazy.force more in
          fun () -> G.pippenger points scalars);
      row "sum of 2^12 multiples, affine array" show (fun () ->
          let points, scalars = Lazy.force more in
          let points = G.to_affine_array points in
          fun () -> G.pippenger_with_affine_array points scalars);
      row "the same in 4 parts" show (fun () ->
          let points, scalars = Lazy.force more in
          let points = G.to_affine_array points in
          fun () ->
            List.init 4 (fun i ->
                G.pippenger_with_affine_array ~start:(1024 * i) ~len:1024 points scalars)
            |> List.fold_left G.add G.zero);
    ]
end

module Rows1 = Group (G1)
module Rows2 = Group (G2)

let pairing_rows =
  let pairs n = List.init n (fun _ -> (Rows1.random (), Rows2.random ())) in
  let p, q = List.hd (pairs 1) in
  let gt x = bytes (GT.to_bytes x) in
  let fq12 x = bytes (Fq12.to_bytes x) in
  (* The values of Miller loops differ by a factor that the final exponentiation removes. *)
  let loop x = gt (Pairing.final_exponentiation_exn x) in
  let x = Fq12.random ~state () and y = Fq12.random ~state () in
  let exponent = Fr.to_z (random_fr ()) in
  let miller n =
    row
      (Printf.sprintf "Miller loop of %d" n)
      loop
      (fun () ->
        let pairs = pairs n in
        fun () -> Pairing.miller_loop pairs)
  in
  [
    row "Fq12: multiply" fq12 (fun () () -> Fq12.mul x y);
    row "Fq12: power" fq12 (fun () () -> Fq12.pow x exponent);
    row "pairing" gt (fun () () -> Pairing.pairing p q);
    row "final exponentiation" gt (fun () () -> Pairing.final_exponentiation_exn x);
  ]
  @ List.init 10 (fun i -> miller (i + 1))
  @ [
      row "Miller loop of 6, final exponentiation" gt (fun () ->
          let pairs = pairs 6 in
          fun () -> Pairing.(final_exponentiation_exn (miller_loop pairs)));
      row "Miller loop of 512, final exponentiation" gt (fun () ->
          let pairs = pairs 512 in
          fun () -> Pairing.(final_exponentiation_exn (miller_loop pairs)));
      row "sum of 64 pairings" gt (fun () ->
          let pairs = pairs 64 in
          fun () ->
            List.fold_left (fun sum (p, q) -> GT.add sum (Pairing.pairing p q)) GT.zero pairs);
    ]

let rows =
  Array.of_list
    (fr_rows @ transform_rows @ Rows1.rows "G1" @ Rows2.rows "G2" @ pairing_rows)

let () =
  Array.iter (fun row -> print_endline row.name) rows;
  print_endline "";
  try
    while true do
      Scanf.sscanf (input_line stdin) "%d %d" (fun number runs ->
          let row = rows.(number) in
          if runs = 0 then
            String.iter (fun c -> Printf.printf "%02x" (Char.code c)) (row.show ())
          else begin
            let start = clock () in
            row.run runs;
            Printf.printf "%d" (clock () - start)
          end;
          print_endline "")
    done
  with End_of_file -> ()
