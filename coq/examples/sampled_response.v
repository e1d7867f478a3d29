(* 1000*PoissonSubsample(RandomizedResponse('3/4'), '1/100') + 10*RandomizedResponse('11/20')

   is (2.96439, 1e-5)-DP: at the order 9.08, by the improved conversion.
   Neighbours: add_remove.
   It rests on nothing but the axioms of Coq's real numbers and machine integers.
   Prove it with: make coq; coqc -w none -Q out/coq Symacct FILE *)

From Coq Require Import Reals Lra Lia List ZArith Permutation.
From Coquelicot Require Import Coquelicot.
From Symacct Require Import Evaluate.
Import ListNotations.
Open Scope R_scope.

Definition epsilon : R := (296439 / 100000).
Definition delta : R := (1 / 100000).
Definition alpha : R := (227 / 25).
(* How often, and the pair (p, γ): the truth is told with probability p, of a sample of rate γ. *)
Definition runs : list (positive * (R * R)) :=
  [(1000%positive, ((3 / 4), (1 / 100)));
   (10%positive, ((11 / 20), 1))].
Definition costs_of_runs : list R := [(1558743 / 2500000000); (26114721 / 200000000)].

Lemma each_costs : response_costs alpha runs costs_of_runs.
Proof.
  unfold response_costs, runs, costs_of_runs, alpha.
  repeat (apply Forall2_cons; [split; evaluate 81%positive |]). apply Forall2_nil.
Qed.

Theorem numerical : spent runs costs_of_runs + improved alpha delta <= epsilon.
Proof. unfold runs, costs_of_runs, alpha, epsilon, delta. evaluate 81%positive. Qed.

(* In whatever order they are run, and however what was answered decides between the laws. *)
Theorem guarantee : forall schedule (s : strategy bool (length schedule)),
  Permutation schedule (kinds_of runs) -> scheduled response_of schedule s ->
  protects (run s) epsilon delta.
Proof.
  apply (response_improved alpha runs costs_of_runs).
  - unfold alpha. lra.
  - unfold delta. lra.
  - unfold possible, runs. repeat (apply Forall_cons; [simpl; lra |]). apply Forall_nil.
  - exact each_costs.
  - exact numerical.
Qed.
